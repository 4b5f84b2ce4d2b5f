#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/what_if/edit.hpp"

namespace interlace::what_if {

inline constexpr ErrorCode kBadEdit{"what_if.bad_edit"};

/// Reads a list of edits (docs/edits.md). `source` names the file in messages.
/// Throws Error(what_if.bad_edit) naming the file and the edit.
[[nodiscard]] std::vector<Edit> parse_edits(std::string_view json, std::string_view source);
[[nodiscard]] std::vector<Edit> read_edits(const std::filesystem::path& file);
/// Those of several files, one after the other.
[[nodiscard]] std::vector<Edit> read_edits(std::span<const std::string> files);

}  // namespace interlace::what_if
