#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace interlace::cli {

/// Help as CLI11 lays it out, with what stands in its right column wrapped.
class HelpFormatter : public CLI::Formatter {
 public:
  /// width: of a line, in columns.
  explicit HelpFormatter(std::size_t width) : width_(width) {}

  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* subcommand) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::size_t width_;
};

/// As wide as the terminal, where that is not too wide to be read.
[[nodiscard]] std::shared_ptr<HelpFormatter> help_for_terminal();

}  // namespace interlace::cli
