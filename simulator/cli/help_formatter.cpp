#include "simulator/cli/help_formatter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "simulator/cli/terminal.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

namespace {

/// Each line wrapped by itself.
std::string wrapped_lines(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    all += fmt::format("{}\n", fmt::join(report::wrapped(line, columns), "\n"));
  }
  if (!all.empty() && !text.ends_with('\n')) all.pop_back();
  return all;
}

}  // namespace

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  constexpr std::string_view kMore = " ...";
  std::string opts = Formatter::make_option_opts(option);
  // CLI11 says "more" of each option that fills a list, also of one that takes a value at a time.
  const std::size_t more = opts.find(kMore);
  if (more != std::string::npos && !option->get_allow_extra_args()) opts.erase(more, kMore.size());
  return opts;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped_lines(Formatter::make_option_desc(option), width_ - get_column_width());
}

std::string HelpFormatter::make_subcommand(const CLI::App* subcommand) const {
  std::ostringstream out;
  CLI::detail::format_help(out, subcommand->get_display_name(true),
                           wrapped_lines(subcommand->get_description(), width_ - get_column_width()),
                           get_column_width());
  return out.str();
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped_lines(Formatter::make_description(app), width_);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  return wrapped_lines(Formatter::make_footer(app), width_);
}

std::shared_ptr<HelpFormatter> help_for_terminal() {
  constexpr std::size_t kWidestHelp = 100;  // columns
  return std::make_shared<HelpFormatter>(std::min(kWidestHelp, terminal_width().value_or(kWidestHelp)));
}

}  // namespace interlace::cli
