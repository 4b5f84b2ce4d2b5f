#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace interlace::engine::cli {

/// What a subcommand does once its arguments are read. Gives the exit status; throws Error.
using Action = std::function<int()>;

/// Each adds one subcommand to `app`, whose parsing leaves the action to run in `chosen`. Both must outlive parsing.
void add_run(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_workloads(CLI::App& app, Action& chosen);

}  // namespace interlace::engine::cli
