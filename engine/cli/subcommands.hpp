#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "engine/workload/workload.hpp"

namespace interlace::engine::cli {

/// What a subcommand does once its arguments are read. Gives the exit status; throws Error.
using Action = std::function<int()>;

/// Each adds one subcommand to `app`, whose parsing leaves the action to run in `chosen`. Both must outlive parsing.
void add_run(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
/// --ranks, --batch and --steps.
void add_workload_changes(CLI::App& command, WorkloadChanges& changes);
void add_workloads(CLI::App& app, Action& chosen);

}  // namespace interlace::engine::cli
