#include "simulator/replay/predict.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "simulator/analysis/compare.hpp"
#include "simulator/analysis/memory.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "simulator/analysis/steps.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/overlap_anchor.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/prediction_row.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/ingest/trace_files.hpp"
#include "simulator/replay/anchor.hpp"
#include "simulator/replay/applicable.hpp"
#include "simulator/replay/recorded_schedule.hpp"
#include "simulator/report/mean_report.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/what_if/apply.hpp"
#include "simulator/what_if/parse.hpp"

namespace interlace::cli {

namespace {

struct AskedSchedule {
  schedule::Schedule schedule;
  bool by_name = true;  ///< false: through "all", so that it may be left out
};

std::vector<AskedSchedule> asked_schedules(const std::vector<std::string>& wanted) {
  std::vector<AskedSchedule> asked;
  const auto add = [&](schedule::Schedule schedule, bool by_name) {
    const auto same = std::ranges::find(asked, schedule.name, [](const AskedSchedule& a) { return a.schedule.name; });
    const bool clashes = same != asked.end() && !schedule::same_pipeline(same->schedule, schedule);
    if (clashes) {  // the built-in one keeps its name
      schedule::Schedule& of_file = by_name && !schedule.source.starts_with("built-in ") ? schedule : same->schedule;
      of_file.name = schedule::name_with_file(of_file);
    }
    if (same == asked.end() || clashes) {
      asked.push_back({std::move(schedule), by_name});
    } else {
      same->by_name = same->by_name || by_name;
    }
  };
  for (const std::string& name : wanted) {
    if (name != "all") {
      add(schedule::load(name), true);
      continue;
    }
    for (schedule::Schedule& schedule : schedule::all_sound()) add(std::move(schedule), false);
  }
  return asked;
}

std::vector<report::RecordedMemory> recorded_memory(const trace::Trace& trace) {
  std::vector<report::RecordedMemory> memory;
  for (const analysis::MemoryUse& use : analysis::memory_use(trace)) {
    memory.push_back({trace.ranks()[use.rank.index()].number, use.allocated_peak, use.active_peak, use.reserved_peak});
  }
  return memory;
}

report::RecordedRun recorded_run(const trace::Trace& trace, const PredictRequest& request) {
  report::RecordedRun recorded;
  recorded.files = request.recordings;
  recorded.memory = recorded_memory(trace);
  for (const trace::Rank& rank : trace.ranks()) {
    recorded.ranks.push_back(rank.number);
    if (rank.world_size) recorded.world_size = rank.world_size;
  }
  return recorded;
}

std::vector<what_if::Edit> read_edits(const std::vector<std::string>& files) {
  std::vector<what_if::Edit> all;
  for (const std::string& file : files) std::ranges::move(what_if::read_edits(file), std::back_inserter(all));
  return all;
}

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

/// The recorded steps as analysis::steps_ended_by tells them.
std::vector<analysis::StepWindow> recorded_windows(const trace::Trace& trace, const analysis::Annotations& annotations,
                                                   const replay::SiteTable& table) {
  const auto steps = analysis::steps_ended_by(trace, annotations, optimizer_label(annotations, table));
  return analysis::windows_of(trace, steps).device;
}

/// Says what is known of the recorded steps.
void describe_steps(const trace::Trace& trace, const analysis::Annotations& annotations,
                    std::span<const analysis::StepWindow> windows, report::RecordedRun& recorded) {
  recorded.overlap = analysis::overlap(trace, annotations, windows).mean;
  recorded.step_time_ns = recorded.overlap->step_ns;
  if (!windows.empty()) recorded.steps = windows.front().steps;
}

/// One predicted schedule with all that the report needs of it.
struct Predicted {
  replay::Prediction prediction;
  std::vector<analysis::StepWindow> windows;
  analysis::StepAnalysis steps;
};

/// What is known to be off in the replay of the recorded schedule.
struct Anchors {
  std::optional<replay::Anchor> step;
  std::optional<OverlapAnchor> overlap;
};

/// What a schedule does otherwise than the recorded one; reasons are of both as replayed, since corrections differ.
void compare_with_recorded(const Predicted& recorded, const Predicted& other, report::Prediction& row) {
  row.speedup = static_cast<double>(recorded.prediction.step_time) / static_cast<double>(other.prediction.step_time);
  for (analysis::Reason& reason : analysis::compare(recorded.steps, other.steps)) {
    row.reasons.push_back(std::move(reason.text));
  }
}

replay::PredictOptions options_of(const PredictRequest& request) {
  replay::PredictOptions options;
  options.simulation.seed = request.seed;
  if (request.steps) options.simulation.iterations = options.simulation.warm_up + *request.steps;
  options.simulation.machine.contention = request.contention;
  options.simulation.as_recorded = request.under_recorder;
  if (request.device_only) {
    options.runs = 1;
    options.simulation.jitter = false;
    options.simulation.host_scale = 0;
  }
  options.run_steps = request.run_steps;
  if (request.gpu_memory_gib) options.memory.capacity = std::llround(*request.gpu_memory_gib * kGibibyte);
  return options;
}

/// The errors are those of the job as it was recorded, whatever is asked for. itself: the recorded schedule replayed as
/// asked for; recorded: what the recording shows.
Anchors anchors_of(const replay::Predictor& unedited, const schedule::Schedule& known, const PredictRequest& request,
                   const Predicted& itself, const analysis::OverlapSummary& recorded) {
  replay::PredictOptions options = options_of(request);
  options.simulation.machine.contention = true;
  const bool as_it_is = request.edits.empty() && request.contention;
  Anchors anchors;
  anchors.overlap = as_it_is && request.under_recorder ? OverlapAnchor(recorded, itself.steps.overlap.mean)
                                                       : overlap_anchor(recorded, unedited, known, options);
  const std::optional<double> measured_ns = unedited.sites().unrecorded_step_ns;
  if (measured_ns && !request.under_recorder) {
    anchors.step.emplace(*measured_ns,
                         as_it_is ? itself.prediction.step_time : unedited.predict(known, options).step_time);
  }
  return anchors;
}

/// From the first of its recordings.
PredictAnswer predict_from_one(const PredictRequest& request, Console& console) {
  const std::vector<what_if::Edit> edits = read_edits(request.edits);
  const std::vector<AskedSchedule> asked = asked_schedules(request.schedules);
  ingest::Recording recording = read_recording(request.recordings, request.memory_snapshots, console);
  console.progress("cutting the recording into stages");
  const stages::Profile profile = profile_for(request.profile, recording.trace);
  const stages::Cut cut = stages::cut(recording.trace, profile, recording.diagnostics);
  std::optional<contention::MachineProfile> machine;
  if (request.machine) machine = contention::read_machine_profile(*request.machine);
  replay::SiteTable sites =
      replay::find_sites(recording.trace, cut, recording.diagnostics, machine ? &*machine : nullptr);
  const std::vector<schedule::Schedule> library = schedule::all_sound();
  std::optional<double> measured_ns;
  if (request.measured_step_ms) measured_ns = *request.measured_step_ms * static_cast<double>(kMillisecond);
  const schedule::Schedule* known =
      replay::recorded_schedule(library, recording.trace, cut, sites, recording.diagnostics, measured_ns);
  replay::SiteTable edited = what_if::apply_edits(sites, edits);
  std::vector<const schedule::Schedule*> replayed;
  if (known != nullptr) replayed.push_back(known);
  for (const AskedSchedule& one : asked) replayed.push_back(&one.schedule);
  what_if::refuse_idle_edits(edits, replayed);
  if (request.device_only) {
    edited.launch_latency_ns = 0;
    edited.wait_latency_ns = 0;
  }
  replay::Predictor predictor(recording.trace, cut, std::move(edited));
  if (known != nullptr) predictor.learn_memory(*known, recording.diagnostics);
  const replay::PredictOptions options = options_of(request);
  Diagnostics assumptions;
  if (!request.contention) assumptions.count(replay::kContentionOff);
  const auto run = [&](const schedule::Schedule& schedule) {
    console.progress("predicting " + schedule.name);
    replay::Prediction prediction = predictor.predict(schedule, options);
    std::vector<analysis::StepWindow> windows = analysis::windows_of(prediction.steps);
    analysis::StepAnalysis steps = analyse_prediction(prediction);
    return Predicted{std::move(prediction), std::move(windows), std::move(steps)};
  };

  report::PredictReport report{.recorded = recorded_run(recording.trace, request), .predictions = {}, .skipped = {}};
  report.recorded.machine_fitted = sites.fitted;
  if (machine) {
    report.recorded.machine_profile = machine->source;
    report.recorded.machine_values = machine->values(sites.fitted);
  }
  report.recorded.capacity = options.memory.capacity;
  std::vector<SteadyTrace> traces;
  for (const what_if::Edit& edit : edits) report.recorded.edits.push_back(what_if::describe(edit));
  const analysis::Annotations annotations(recording.trace);
  std::vector<analysis::StepWindow> windows = recorded_windows(recording.trace, annotations, predictor.sites());
  describe_steps(recording.trace, annotations, windows, report.recorded);
  std::optional<Predicted> itself;
  Anchors anchors;
  if (known != nullptr) {
    itself = run(*known);
    if (!request.device_only) {
      const replay::Predictor unedited(recording.trace, cut, sites);
      anchors = anchors_of(unedited, *known, request, *itself, *report.recorded.overlap);
    }
    if (anchors.step) anchors.step->correct(itself->prediction, true);
    report.recorded.schedule = known->name;
    report.recorded.predicted_step_time_ns = itself->prediction.step_time;
    if (anchors.step) {
      report.recorded.replay_error = anchors.step->error();
      anchors.step->judge(recording.diagnostics);
    }
    if (anchors.overlap) report.recorded.replayed_hidden_ratio = anchors.overlap->replayed_ratio();
  }
  for (const AskedSchedule& one : asked) {
    const auto add_prediction = [&] {
      const bool is_itself = itself && schedule::same_pipeline(one.schedule, *known);
      Predicted predicted = is_itself ? *itself : run(one.schedule);
      predicted.prediction.schedule = one.schedule.name;
      if (anchors.step && !is_itself) anchors.step->correct(predicted.prediction, false);
      report.predictions.push_back(prediction_row(one.schedule, predicted.prediction, predicted.steps, cut.modules,
                                                  assumptions, predictor.sites().lone_rank));
      report::Prediction& row = report.predictions.back();
      if (anchors.overlap) anchors.overlap->correct(row.overlap, is_itself);
      if (itself) compare_with_recorded(*itself, predicted, row);
      traces.push_back({one.schedule.name, std::move(predicted.prediction.trace), std::move(predicted.windows)});
    };
    if (one.by_name) {
      add_prediction();
    } else if (auto why = replay::predict_if_applicable(one.schedule, predictor.sites(), add_prediction)) {
      report.skipped.push_back({one.schedule.name, std::move(*why)});
    }
  }
  const auto known_memory = [](const report::Prediction& row) { return !row.memory.empty(); };
  if (request.gpu_memory_gib && std::ranges::none_of(report.predictions, known_memory)) {
    recording.diagnostics.count(kMemoryNotRecorded, request.recordings.front());
  }
  report.recorded.diagnostics = recording.diagnostics.entries();
  return {std::move(report), {"measured", std::move(recording.trace), std::move(windows)}, std::move(traces)};
}

/// A run that counts twice would be taken for two that agree.
void refuse_repeated_recordings(const PredictRequest& request) {
  std::set<std::filesystem::path> given;
  const auto add = [&](const std::vector<std::string>& named) {
    Diagnostics left_out;  // counted where the files are read
    bool is_new = true;
    for (const std::filesystem::path& file :
         ingest::trace_files(std::vector<std::filesystem::path>(named.begin(), named.end()), left_out)) {
      is_new = given.insert(std::filesystem::weakly_canonical(file)).second && is_new;
    }
    return is_new;
  };
  add(request.recordings);
  for (const std::string& again : request.again) {
    if (add({again})) continue;
    throw Error(kRepeatedRecording, again, "this recording is given twice, so that one run would count as two",
                "name a recording of another run with --again, or leave it out");
  }
}

}  // namespace

PredictAnswer predict(const PredictRequest& request, Console& console) {
  if (!request.again.empty()) refuse_repeated_recordings(request);
  PredictAnswer answer = predict_from_one(request, console);
  std::vector<report::PredictReport> reports{std::move(answer.report)};
  for (const std::string& again : request.again) {
    PredictRequest other = request;
    other.recordings = {again};
    other.memory_snapshots.clear();
    reports.push_back(predict_from_one(other, console).report);
  }
  answer.report = report::mean_over(std::move(reports));
  return answer;
}

}  // namespace interlace::cli
