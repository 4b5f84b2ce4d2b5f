#pragma once

#include <CLI/App.hpp>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace {

inline constexpr ErrorCode kWrongUse{"cli.usage"};

/// What is wrong with a command line that CLI11 refuses. A word that has no meaning is named before what is missing,
/// with what is most like it: most often it was meant for that.
[[nodiscard]] Error usage_error(const CLI::App& app, const CLI::ParseError& error);

/// A word that is neither an option nor, where it does not begin with '-', a subcommand of the command.
[[nodiscard]] Error not_known(const CLI::App& command, const std::string& word);

/// Tells the user why the words were not taken, or what he asked for (--help, --version). Gives the exit status.
[[nodiscard]] int end_of_parsing(const CLI::App& app, const CLI::ParseError& error);

}  // namespace interlace
