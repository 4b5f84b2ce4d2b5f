#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace interlace::cli {

/// What a variable of the environment says; nothing where it is not set. Before any thread starts.
[[nodiscard]] std::string_view environment(const char* name);

/// Columns of the terminal that standard output goes to; COLUMNS says more. Lines of fewer than 60 hold no table, and
/// longer than 140 are hard to read. None where it is no terminal.
[[nodiscard]] std::optional<std::size_t> terminal_width();

}  // namespace interlace::cli
