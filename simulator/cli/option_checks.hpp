#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

namespace interlace::cli {

// Both tell a word that they refuse from what is allowed.

/// Takes the text of a whole number from `least` to `most`; CLI11 itself takes "-1" for a large one.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Takes the text of a number from `least` to `most`. what: "number of GiB".
[[nodiscard]] CLI::Validator number(const std::string& what, double least, double most);

}  // namespace interlace::cli
