#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace {

/// All of a small file that a person writes or a tool leaves: edits, a profile, a schedule. Throws Error of that code
/// and with that advice where it is a folder, cannot be read or has more than `most_bytes`.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& file, ErrorCode code, const std::string& advice,
                                         std::size_t most_bytes = std::size_t{1} << 26);

}  // namespace interlace
