#pragma once

#include <CLI/App.hpp>
#include <string>

#include "simulator/base/error.hpp"

namespace interlace {

inline constexpr ErrorCode kWrongUse{"cli.usage"};

/// A word that is neither an option nor, where it does not begin with '-', a subcommand of the command.
[[nodiscard]] Error not_known(const CLI::App& command, const std::string& word);

/// Tells the user what is wrong with the command line. Gives the exit status.
[[nodiscard]] int refuse(const Error& wrong_use);

/// Tells the user why the words were not taken, or what he asked for (--help, --version). Gives the exit status.
[[nodiscard]] int end_of_parsing(const CLI::App& app, const CLI::ParseError& error);

}  // namespace interlace
