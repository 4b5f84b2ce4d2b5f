#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <iostream>
#include <new>

#include "engine/cli/subcommands.hpp"
#include "simulator/base/error.hpp"

namespace {

constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;

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
    return app.exit(error) == 0 ? kSuccess : kUsage;
  }
  const int status = chosen();
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "error: standard output cannot be written\n";
    return kFailure;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return run(argc, argv);
  } catch (const interlace::Error& error) {
    std::cerr << error.what() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "error: out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
  }
  return kFailure;
}
