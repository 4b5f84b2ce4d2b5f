#include "simulator/cli/check_trace.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "simulator/cli/errors.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/report/diagnostics_table.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"

namespace interlace::cli {

namespace {

/// The built-in schedule that a recording looks to be made under.
std::optional<schedule::Schedule> recognised(const trace::Trace& trace, const stages::Cut& cut) {
  Diagnostics none;
  const replay::SiteTable sites = replay::find_sites(trace, cut, none);
  const std::vector<schedule::Schedule> library = schedule::all_sound();
  const schedule::Schedule* known = replay::recognise(library, trace, cut, sites);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

/// What a recording looks like, where that is not what the user says. A recording that cannot be replayed looks like
/// nothing, and can be checked.
std::optional<std::string> other_than(const schedule::Schedule& said, const trace::Trace& trace,
                                      const stages::Cut& cut) {
  try {
    const auto known = recognised(trace, cut);
    return known && !schedule::same_pipeline(*known, said) ? std::optional(known->name) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

CheckedRecording check_recording(const CheckTraceRequest& request, Console& console) {
  std::optional<schedule::Schedule> schedule;
  if (request.schedule) schedule = schedule::load(*request.schedule);
  ingest::Recording recording = read_recording(request.recordings, request.memory_snapshots, console);
  const trace::Trace& trace = recording.trace;
  console.progress("checking what ran");
  trace_check::StagedWork staged;
  trace_check::TraceCheckOptions options{.feature_processors = request.feature_processors, .known = {}};
  std::optional<std::string> looks_like;
  if (!request.profile && trace_check::names_its_stages(trace)) {
    if (schedule) {
      throw Error(kDoesNotApply, "--schedule", "the recording itself names the batch of each stage", "leave it out");
    }
    staged = trace_check::staged_by_names(trace);
  } else {
    const stages::Cut cut = stages::cut(trace, profile_for(request.profile, trace), recording.diagnostics);
    if (schedule) {
      looks_like = other_than(*schedule, trace, cut);
    } else {
      schedule = recognised(trace, cut);
    }
    if (!schedule) {
      throw Error(trace_check::kNothingToCheck, request.recordings.front(),
                  "recorded under none of the built-in schedules, so that the batch of a stage is not known",
                  "name the schedule with --schedule");
    }
    options.known = schedule->known_hazards;
    staged = trace_check::staged_by(trace, cut, *schedule);
  }
  trace_check::TraceCheck result = trace_check::check(trace, staged, options, recording.diagnostics);
  result.source = request.recordings.front();
  std::set<std::string_view> files;  // snapshots among the words are of the same ranks
  for (const trace::Rank& rank : trace.ranks()) files.insert(rank.source);
  if (files.size() > 1) result.source += " and " + std::to_string(files.size() - 1) + " more";
  if (schedule) result.schedule = schedule->name;
  if (result.checked == 0) {
    throw Error(trace_check::kNothingToCheck, result.source, "what its device work touches is not known",
                "record a training loop whose stages are annotated, or give --profile");
  }
  return {std::move(result), std::move(looks_like), report::gravest_first(recording.diagnostics.entries())};
}

bool CheckedRecording::lost_data() const {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.severity == Severity::kDataLoss; });
}

}  // namespace interlace::cli
