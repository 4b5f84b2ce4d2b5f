#pragma once

#include <CLI/App.hpp>
#include <string>

namespace interlace::cli {

/// What is wrong with a command line that CLI11 refuses. A word that has no meaning is named before what is missing,
/// with what is most like it: most often it was meant for that.
[[nodiscard]] std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

/// Takes the text of a positive number of at most `most`. what: "number of GiB".
[[nodiscard]] CLI::Validator positive(const std::string& what, double most);

}  // namespace interlace::cli
