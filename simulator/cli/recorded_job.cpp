#include "simulator/cli/recorded_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "simulator/analysis/clock_offsets.hpp"
#include "simulator/analysis/steps.hpp"
#include "simulator/analysis/streams.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/recorded_run.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/replay/predicted_trace.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/replay/recorded_schedule.hpp"

namespace interlace::cli {

namespace {

/// The label of the annotation that the recorded optimizer runs in.
std::optional<std::string> optimizer_label(const analysis::Annotations& annotations, const replay::SiteTable& table) {
  for (const std::vector<replay::RecordedIteration>& iterations : table.ranks) {
    for (const replay::RecordedCall& call : iterations.front().calls) {
      if (call.segment.stage != schedule::Stage::kOptimizerStep) continue;
      if (!call.call) continue;
      if (const auto label = annotations.stage_of(*call.call)) return std::string(label->stage);
    }
  }
  return std::nullopt;
}

/// The steps that the recorded optimizer ends; none where a rank has no whole one.
std::vector<analysis::StepWindow> windows_as_predicted(const trace::Trace& trace,
                                                       const analysis::Annotations& annotations,
                                                       const replay::SiteTable& table) {
  const auto steps = analysis::steps_ended_by(trace, annotations, optimizer_label(annotations, table));
  if (!std::ranges::all_of(steps, analysis::has_whole_step)) return {};
  return analysis::windows_of(trace, steps).device;
}

/// Kernels, collectives and copies a step, mean over ranks.
double works_a_step(const trace::Trace& trace, std::span<const analysis::StepWindow> windows) {
  double works = 0;
  for (const analysis::StreamUse& use : analysis::stream_use(trace, windows)) {
    works += static_cast<double>(use.operations);
  }
  return works / static_cast<double>(windows.size());
}

/// What the largest collective of the recording sends or receives on its rank; none where no sizes are known.
std::optional<Bytes> largest_exchange(const trace::Trace& trace) {
  Bytes largest = 0;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::CollectiveDetail* detail = trace.collective({i});
    if (detail != nullptr) largest = std::max(largest, replay::bytes_moved(*detail));
  }
  return largest > 0 ? std::optional(largest) : std::nullopt;
}

/// Throws Error(cli.cannot_anchor) where the measured step that was given is of no use with that recording.
void refuse_useless_step(double measured_ms, const report::RecordedRun& recorded) {
  constexpr const char* kOption = "--measured-step-ms";
  if (!recorded.schedule) {
    throw Error(kCannotAnchor, kOption, "the recorded schedule is neither a built-in one nor one of those asked for",
                "leave --measured-step-ms out, or name the recorded schedule with --schedule");
  }
  // A recorder costs a job bound by its host half of its pace at most; a slip of units is a factor of a thousand.
  constexpr double kMostApart = 4;
  const double recorded_ms = static_cast<double>(recorded.step_time_ns.value_or(0)) / static_cast<double>(kMillisecond);
  if (recorded_ms <= 0 || std::max(measured_ms / recorded_ms, recorded_ms / measured_ms) <= kMostApart) return;
  throw Error(
      kCannotAnchor, kOption,
      fmt::format("{} ms a step cannot be of this job: it was recorded with {:.2f} ms", measured_ms, recorded_ms),
      "give the mean time of one step, in milliseconds");
}

stages::Cut cut_of(ingest::Recording& recording, const PredictRequest& request, Console& console) {
  if (const auto predicted = replay::predicted_for(recording.trace); predicted && !request.profile) {
    throw Error(kIsPrediction, recording.trace.ranks().front().source,
                fmt::format("this is a prediction of {}, not a recording", predicted->schedule),
                "name the recordings that it was predicted from");
  }
  console.progress("cutting the recording into stages");
  return stages::cut(recording.trace, profile_for(request.profile, recording.trace), recording.diagnostics);
}

std::vector<schedule::Schedule> not_in(const std::vector<schedule::Schedule>& library,
                                       const std::vector<schedule::AskedSchedule>& asked) {
  std::vector<schedule::Schedule> own;
  for (const schedule::AskedSchedule& one : asked) {
    const auto is_same = [&](const schedule::Schedule& known) { return schedule::same_pipeline(known, one.schedule); };
    if (std::ranges::none_of(library, is_same)) own.push_back(one.schedule);
  }
  return own;
}

/// Times of another machine would be taken for those of this one without a word.
void count_unfit_profile(const contention::MachineProfile& machine, const trace::Trace& trace,
                         Diagnostics& diagnostics) {
  if (machine.quick) diagnostics.count(kQuickProfile, machine.source);
  if (machine.gpu.empty()) return;
  for (const trace::Rank& rank : trace.ranks()) {
    const auto other = std::ranges::find_if(
        rank.devices, [&](const trace::Device& device) { return !device.name.empty() && device.name != machine.gpu; });
    if (other == rank.devices.end()) continue;
    diagnostics.count(kOtherMachine, fmt::format("{}: {}, not {}", machine.source, machine.gpu, other->name));
    return;
  }
}

}  // namespace

RecordedJob::RecordedJob(const PredictRequest& request, Console& console)
    : asked_(schedule::asked_schedules(request.schedules)),
      recording_(read_recording(request.recordings, request.memory_snapshots, console)),
      read_with_(recording_.diagnostics),
      cut_(cut_of(recording_, request, console)),
      machine_(request.machine ? std::optional(contention::read_machine_profile(*request.machine)) : std::nullopt),
      groups_(recording_.trace, recording_.diagnostics),
      sites_(
          replay::find_sites(recording_.trace, cut_, groups_, recording_.diagnostics, machine_ ? &*machine_ : nullptr)),
      library_(schedule::all_sound()),
      own_(not_in(library_, asked_)),
      known_(recognised(request)) {
  analysis::count_differing_clocks(recording_.trace, groups_, recording_.diagnostics);
  describe(request);
  if (request.must_anchor && request.measured_step_ms) refuse_useless_step(*request.measured_step_ms, recorded_);
}

void RecordedJob::ask_for_recorded() {
  const auto is_it = [&](const schedule::AskedSchedule& one) { return is_recorded(one.schedule); };
  if (known_ == nullptr || std::ranges::any_of(asked_, is_it)) return;
  asked_.insert(asked_.begin(), {*known_, false});
}

bool RecordedJob::is_recorded(const schedule::Schedule& schedule) const {
  return known_ != nullptr && schedule::same_pipeline(schedule, *known_);
}

/// By itself or, where nothing else that is asked for is called so, by its file.
bool RecordedJob::has_own_called(std::string_view name) const {
  const bool is_asked = std::ranges::any_of(asked_, [&](const auto& one) { return one.schedule.name == name; });
  return std::ranges::any_of(own_, [&](const schedule::Schedule& own) {
    return own.name == name || (!is_asked && own.name == schedule::name_with_file(name, own.source));
  });
}

/// A schedule of the user's own may be a variant of what was recorded, and as like to it: it is taken for the recorded
/// one where the recording says its name, or where none of the library is like enough.
const schedule::Schedule* RecordedJob::recognised(const PredictRequest& request) {
  std::optional<double> measured_ns;
  if (request.measured_step_ms) measured_ns = *request.measured_step_ms * static_cast<double>(kMillisecond);
  const auto among = [&](std::span<const schedule::Schedule> candidates) {
    return replay::recorded_schedule(candidates, recording_.trace, cut_, sites_, recording_.diagnostics, measured_ns);
  };
  const auto named = replay::named_schedule(recording_.trace);
  if (named && has_own_called(*named)) return among(own_);
  const schedule::Schedule* of_library = among(library_);
  return of_library != nullptr ? of_library : among(own_);
}

void RecordedJob::describe(const PredictRequest& request) {
  const analysis::Annotations annotations(recording_.trace);
  const auto steps = analysis::recorded_steps(recording_.trace, annotations);
  recorded_ = recorded_run(recording_.trace, request.recordings, steps);
  if (steps && !request.again.empty()) {
    recorded_.works_a_step = works_a_step(recording_.trace, steps->windows.device);
    recorded_.largest_exchange = largest_exchange(recording_.trace);
  }
  add_machine(sites_, recorded_);
  if (machine_) {
    count_unfit_profile(*machine_, recording_.trace, recording_.diagnostics);
    recorded_.machine_profile = machine_->source;
    recorded_.machine_values = machine_->values(sites_.fitted);
  }
  windows_ = windows_as_predicted(recording_.trace, annotations, sites_);
  if (known_ != nullptr) recorded_.schedule = known_->name;
}

}  // namespace interlace::cli
