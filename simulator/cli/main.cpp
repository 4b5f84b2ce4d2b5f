#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/program.hpp"
#include "simulator/base/usage_error.hpp"
#include "simulator/cli/help_formatter.hpp"
#include "simulator/cli/subcommands.hpp"

namespace {

int run(int argc, char** argv, int& failure) {
  CLI::App app{"Predicts what another training-pipeline schedule would do to a recorded GPU job.", "interlace"};
  app.formatter(interlace::cli::help_for_terminal());
  interlace::cli::Console console;
  app.set_version_flag("--version", "interlace " INTERLACE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  bool quiet = false;
  app.add_flag("-q,--quiet", quiet, "Write nothing but results and errors");

  std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<std::string> of_part = interlace::cli::take_words_of_part(words);
  interlace::cli::Action chosen;
  interlace::cli::add_predict(app, chosen);
  interlace::cli::add_explain(app, chosen);
  interlace::cli::add_info(app, chosen);
  interlace::cli::add_search(app, chosen);
  interlace::cli::add_sweep(app, chosen);
  interlace::cli::add_schedules(app, chosen);
  interlace::cli::add_convert(app, chosen);
  interlace::cli::add_merge(app, chosen);
  interlace::cli::add_record(app, chosen, of_part);
  interlace::cli::add_calibrate(app, chosen, of_part);
  int status = interlace::kSuccess;
  interlace::cli::add_check(app, chosen, status, failure);
  interlace::cli::add_validate(app, chosen, status);
  try {
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return interlace::end_of_parsing(app, error);
  }

  if (quiet) console.silence();
  try {
    chosen(console);
  } catch (...) {
    console.done();
    throw;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  int failure = interlace::kFailure;
  return interlace::end_of([&] { return run(argc, argv, failure); }, failure);
}
