#include "simulator/base/usage_error.hpp"

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "simulator/base/nearest_word.hpp"
#include "simulator/base/program.hpp"

namespace interlace {

namespace {

constexpr const char* kAdvice = "--help says more";

bool is_option(const std::string& word) { return word.starts_with('-'); }

/// The subcommand that was chosen last: `schedules show` of `schedules`.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

/// What is wrong with a command line that CLI11 refuses. A word that has no meaning is named before what is missing,
/// with what is most like it: most often it was meant for that.
Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  Error as_told(kWrongUse, "", error.what(), kAdvice);
  std::vector<std::string> unknown = app.remaining(true);
  // Words of a program that is to be started are its own.
  unknown.erase(std::ranges::find(unknown, "--"), unknown.end());
  if (unknown.empty() || (app.get_prefix_command() && !is_option(unknown.front()))) return as_told;
  const CLI::App& command = innermost(app);
  const auto option = std::ranges::find_if(unknown, is_option);
  const auto word = std::ranges::find_if_not(unknown, is_option);
  // Options behind a wrong subcommand may be right; a word behind a wrong option may be its value.
  if (word < option && !command.get_subcommands({}).empty()) return not_known(command, *word);
  return option == unknown.end() ? as_told : not_known(command, *option);
}

}  // namespace

Error not_known(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  if (is_option(word)) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* subcommand : command.get_subcommands({})) names.push_back(subcommand->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return {kWrongUse, "",
          "\"" + word + "\" is no " + (is_option(word) ? "option" : "subcommand") + " of " +
              command.get_display_name() + did_you_mean(nearest(word, known)),
          kAdvice};
}

int refuse(const Error& wrong_use) {
  std::cerr << wrong_use.what() << '\n';
  return kUsage;
}

int end_of_parsing(const CLI::App& app, const CLI::ParseError& error) {
  return error.get_exit_code() == 0 ? app.exit(error) : refuse(usage_error(app, error));
}

}  // namespace interlace
