#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "simulator/analysis/clock_offsets.hpp"
#include "simulator/cli/option_checks.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/graph/waits.hpp"
#include "simulator/report/info_report.hpp"

namespace interlace::cli {

namespace {

struct InfoOptions {
  std::vector<std::string> files;
  std::vector<std::string> memory_snapshots;
  std::string format = "table";
  std::size_t kernels = 12;
};

void run_info(const InfoOptions& options, Console& console) {
  ingest::Recording recording = read_recording(options.files, options.memory_snapshots, console);
  // What each stream waited for is often not recorded; how much of it could be told is part of a recording's quality.
  static_cast<void>(graph::infer_waits(recording.trace, recording.diagnostics));
  const graph::ProcessGroups groups(recording.trace, recording.diagnostics);
  analysis::count_differing_clocks(recording.trace, groups, recording.diagnostics);
  console.progress("analysing");
  const report::InfoReport info = report::make_info(recording.trace, recording.diagnostics, options.kernels);
  console.done();
  if (options.format == "json") {
    report::write_info_json(console.out(), info);
  } else {
    report::write_info_table(console.out(), info, console.style());
  }
}

}  // namespace

void add_info(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App* info = app.add_subcommand("info", "Show what a recording holds and how good its data is");
  info->add_option("files", options->files, kRecordingsHelp)->required()->type_name("FILE|DIR");
  add_memory_snapshots(*info, options->memory_snapshots);
  info->add_option("--format", options->format, "How to write the answer")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  info->add_option("--kernels", options->kernels, "How many of the costliest kernels to show")
      ->check(whole_number(0, SIZE_MAX))
      ->capture_default_str();
  info->callback([options, &chosen] { chosen = [options](Console& console) { run_info(*options, console); }; });
}

}  // namespace interlace::cli
