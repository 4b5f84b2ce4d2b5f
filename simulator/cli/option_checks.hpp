#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

namespace interlace::cli {

/// Takes the text of a whole number of at most `most`; CLI11 itself takes "-1" for a large one.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t most);

/// Takes the text of a positive number of at most `most`. what: "number of GiB".
[[nodiscard]] CLI::Validator positive(const std::string& what, double most);

}  // namespace interlace::cli
