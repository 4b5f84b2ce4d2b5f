#include "simulator/cli/usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "simulator/cli/errors.hpp"
#include "simulator/schedule/problem.hpp"

namespace interlace::cli {

namespace {

/// The subcommand that was chosen last: `schedules show` of `schedules`.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string not_known(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  const bool is_option = word.starts_with('-');
  if (is_option) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* subcommand : command.get_subcommands({})) names.push_back(subcommand->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return fmt::format("\"{}\" is no {} of {}{}", word, is_option ? "option" : "subcommand", command.get_display_name(),
                     schedule::did_you_mean(schedule::nearest(word, known)));
}

std::string problem_of(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return error.what();
  const CLI::App& command = innermost(app);
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  const auto option = std::ranges::find_if(unknown, is_option);
  const auto word = std::ranges::find_if_not(unknown, is_option);
  // Options behind a wrong subcommand may be right; a word behind a wrong option may be its value.
  if (word < option && !command.get_subcommands({}).empty()) return not_known(command, *word);
  return option == unknown.end() ? error.what() : not_known(command, *option);
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  return {kWrongUse, "", problem_of(app, error), "--help says more"};
}

CLI::Validator whole_number(std::uint64_t most) {
  CLI::Validator validator;
  validator.operation([most](const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [read, failure] = std::from_chars(text.data(), end, value);
    const bool good = failure == std::errc() && read == end && value <= most;
    return good ? std::string() : fmt::format("\"{}\" is no whole number from 0 to {}", text, most);
  });
  return validator;
}

CLI::Validator positive(const std::string& what, double most) {
  CLI::Validator validator;
  validator.operation([what, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= most;  // NaN is neither
    return good ? std::string() : fmt::format("\"{}\" is no positive {}", text, what);
  });
  return validator;
}

}  // namespace interlace::cli
