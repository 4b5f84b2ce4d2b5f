#include "simulator/replay/predict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/analysis/compare.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "simulator/analysis/steps.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"

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
    if (same == asked.end()) {
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

report::RecordedRun recorded_run(const trace::Trace& trace, const PredictRequest& request) {
  report::RecordedRun recorded;
  recorded.files = request.recordings;
  for (const trace::Rank& rank : trace.ranks()) {
    recorded.ranks.push_back(rank.number);
    if (rank.world_size) recorded.world_size = rank.world_size;
  }
  return recorded;
}

report::Prediction row_of(const replay::Prediction& prediction, const analysis::StepAnalysis& steps) {
  return {.schedule = prediction.schedule,
          .step_time_ns = prediction.step_time,
          .step_time_low_ns = prediction.step_time_low,
          .step_time_high_ns = prediction.step_time_high,
          .speedup = std::nullopt,
          .overlap = steps.overlap.mean,
          .host_blocked_ns = analysis::total_blocked(steps.host_blocks),
          .reasons = {},
          .races = prediction.races,
          .diagnostics = {}};
}

std::vector<analysis::StepWindow> windows_of(const std::vector<std::vector<Interval>>& steps) {
  std::vector<analysis::StepWindow> windows;
  for (const std::vector<Interval>& of_rank : steps) windows.push_back(analysis::window_of(of_rank));
  return windows;
}

}  // namespace

PredictAnswer predict(const PredictRequest& request, Console& console) {
  if (!request.edits.empty()) {
    throw Error(kNotYet, request.edits.front(), "edits cannot be applied yet", "leave --edit out");
  }
  const std::vector<AskedSchedule> asked = asked_schedules(request.schedules);
  ingest::Recording recording = read_recording(request.recordings, console);
  console.progress("cutting the recording into stages");
  const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), recording.diagnostics);
  const replay::Predictor predictor(recording.trace, cut, recording.diagnostics);
  replay::PredictOptions options;
  options.simulation.seed = request.seed;
  options.simulation.iterations = options.simulation.warm_up + request.steps;

  report::PredictReport report{.recorded = recorded_run(recording.trace, request), .predictions = {}, .skipped = {}};
  std::vector<SteadyTrace> predicted;
  for (const AskedSchedule& one : asked) {
    console.progress("predicting " + one.schedule.name);
    try {
      replay::Prediction prediction = predictor.predict(one.schedule, options);
      const std::vector<analysis::StepWindow> windows = windows_of(prediction.steps);
      report.predictions.push_back(row_of(prediction, analysis::analyse_steps(prediction.trace, windows)));
      predicted.push_back({one.schedule.name, std::move(prediction.trace), windows});
    } catch (const Error& error) {
      if (one.by_name || error.code() != replay::kStageNotRecorded.name) throw;
      report.skipped.push_back({one.schedule.name, error.problem()});
    }
  }

  const analysis::Annotations annotations(recording.trace);
  const auto steps = analysis::find_steps(recording.trace, annotations);
  std::vector<analysis::StepWindow> windows = analysis::windows_of(recording.trace, steps);
  report.recorded.overlap = analysis::overlap(recording.trace, annotations, windows).mean;
  if (!windows.empty()) report.recorded.steps = windows.front().steps;
  report.recorded.step_time_ns = report.recorded.overlap->step_ns;
  report.recorded.diagnostics = recording.diagnostics.entries();
  return {std::move(report), {"measured", std::move(recording.trace), std::move(windows)}, std::move(predicted)};
}

}  // namespace interlace::cli
