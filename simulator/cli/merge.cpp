#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "simulator/analysis/clock_offsets.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/subcommands.hpp"
#include "simulator/report/file_output.hpp"
#include "simulator/report/text.hpp"
#include "simulator/trace/append_trace.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::cli {

namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
  bool trust_clocks = false;
};

std::string microseconds(Nanoseconds time) { return fmt::format("{:.1f}", static_cast<double>(time) / kMicrosecond); }

void check_known(const std::vector<analysis::HostClock>& hosts) {
  for (const analysis::HostClock& host : hosts) {
    if (&host == &hosts.front() || host.collectives > 0) continue;
    throw Error(kClocksUnknown, host.host,
                "no collective is recorded both there and on " + hosts.front().host + ", so its clock is not known",
                "record collectives of all hosts, or take the clocks as they are with --trust-clocks");
  }
}

void print(const std::vector<analysis::HostClock>& hosts, Console& console) {
  report::TextTable table({{"host"},
                           {"ranks", report::Align::kRight},
                           {"clock moved by us", report::Align::kRight},
                           {"at most off by us", report::Align::kRight},
                           {"collectives", report::Align::kRight},
                           {"clocks"}});
  for (const analysis::HostClock& host : hosts) {
    const bool is_first = &host == &hosts.front();
    table.add({host.host.empty() ? "(unnamed)" : host.host, fmt::format("{}", host.ranks.size()),
               is_first ? "0" : microseconds(host.offset), is_first ? "0" : microseconds(host.residual),
               is_first ? "" : fmt::format("{}", host.collectives),
               is_first ? "" : std::string(host.is_steady ? "steady" : "drifting")});
  }
  console.out() << table.text(console.style());
}

trace::Trace moved(const trace::Trace& trace, const std::vector<Nanoseconds>& shifts) {
  trace::TraceBuilder builder;
  std::vector<trace::RankId> ranks;
  for (const trace::Rank& rank : trace.ranks()) ranks.push_back(builder.add_rank(rank));
  trace::append_trace(trace, ranks, builder, {}, shifts);
  Diagnostics found_again;  // the same as when the trace was read
  return std::move(builder).build(found_again);
}

void run_merge(const MergeOptions& options, Console& console) {
  if (!options.output.ends_with(".ilt")) {
    throw Error(kUnknownOutput, options.output, "recordings are joined into a file that ends in .ilt",
                "use `interlace convert` for other formats");
  }
  refuse_overwriting(options.output, options.files);
  ingest::Recording recording = read_recording(options.files, {}, console);
  Diagnostics of_groups;  // to be told by who reads what is written
  const graph::ProcessGroups groups(recording.trace, of_groups);
  const std::vector<analysis::HostClock> hosts = analysis::host_clocks(recording.trace, groups);
  if (!options.trust_clocks) check_known(hosts);
  std::vector<Nanoseconds> shifts(recording.trace.ranks().size(), 0);
  for (const analysis::HostClock& host : hosts) {
    for (const trace::RankId rank : host.ranks) shifts[rank.index()] = options.trust_clocks ? 0 : host.offset;
    if (host.offset == 0 || options.trust_clocks) continue;
    recording.diagnostics.count(host.is_steady ? kClockMoved : kClockDrifted,
                                fmt::format("{} by {} us, at most {} us off", host.host, microseconds(host.offset),
                                            microseconds(host.residual)));
  }
  console.progress("writing " + options.output);
  const trace::Trace trace = moved(recording.trace, shifts);
  report::write_file(options.output,
                     [&](std::ostream& out) { trace::write_ilt(trace, recording.diagnostics, out, options.output); });
  console.done();
  print(hosts, console);
  console.flaws(recording.diagnostics.entries());
}

}  // namespace

void add_merge(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App* merge =
      app.add_subcommand("merge", "Join the recordings of a run's ranks into one, and align their clocks");
  merge->add_option("files", options->files, kRecordingsHelp)->required()->type_name("FILE|DIR");
  merge->add_option("-o,--output", options->output, "The .ilt file to write")->required()->type_name("FILE");
  merge->add_flag("--trust-clocks", options->trust_clocks, "Take the clocks of all hosts to agree");
  merge->callback([options, &chosen] { chosen = [options](Console& console) { run_merge(*options, console); }; });
}

}  // namespace interlace::cli
