#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace::cli {

/// What is wrong with a command line that CLI11 refuses, as cli.usage. A word that has no meaning is named before what
/// is missing, with what is most like it: most often it was meant for that.
[[nodiscard]] Error usage_error(const CLI::App& app, const CLI::ParseError& error);

/// Takes the text of a whole number of at most `most`; CLI11 itself takes "-1" for a large one.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t most);

/// Takes the text of a positive number of at most `most`. what: "number of GiB".
[[nodiscard]] CLI::Validator positive(const std::string& what, double most);

}  // namespace interlace::cli
