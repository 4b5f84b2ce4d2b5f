#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "engine/cli/subcommands.hpp"
#include "simulator/base/program.hpp"
#include "simulator/base/usage_error.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Runs training-pipeline schedules for real, on GPUs or, for tests, on a CPU.", "interlace-engine"};
  app.set_version_flag("--version", "interlace-engine " INTERLACE_VERSION);
  app.require_subcommand(1);
  interlace::engine::cli::Action chosen;
  interlace::engine::cli::add_run(app, chosen);
  interlace::engine::cli::add_bench(app, chosen);
  interlace::engine::cli::add_workloads(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return interlace::end_of_parsing(app, error);
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  return interlace::end_of([argc, argv] { return run(argc, argv); });
}
