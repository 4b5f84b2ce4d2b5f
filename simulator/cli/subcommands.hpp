#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "simulator/cli/console.hpp"

namespace interlace::cli {

/// What a subcommand does once its arguments are read. Throws Error; the exit status is 0 where it returns.
using Action = std::function<void(Console&)>;

/// Each adds one subcommand to `app`, whose parsing leaves the action to run in `chosen`. Both must outlive parsing.
void add_info(CLI::App& app, Action& chosen);
void add_predict(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_schedules(CLI::App& app, Action& chosen);
void add_search(CLI::App& app, Action& chosen);
void add_sweep(CLI::App& app, Action& chosen);
void add_convert(CLI::App& app, Action& chosen);
void add_merge(CLI::App& app, Action& chosen);
/// `words`: all that stands behind the subcommand's name.
void add_record(CLI::App& app, Action& chosen, const std::vector<std::string>& words);
void add_calibrate(CLI::App& app, Action& chosen, const std::vector<std::string>& words);
/// Takes what stands behind `record` or `calibrate` out of a command line. It is for another program, "--" and --help
/// among it, which CLI11 would take for itself.
[[nodiscard]] std::vector<std::string> take_words_of_part(std::vector<std::string>& words);
/// `status`: what the program ends with where the action returns; `failure`: where something else ends it.
void add_check(CLI::App& app, Action& chosen, int& status, int& failure);
void add_validate(CLI::App& app, Action& chosen, int& status);

}  // namespace interlace::cli
