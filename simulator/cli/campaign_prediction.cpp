#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "simulator/analysis/overlap.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recording.hpp"
#include "simulator/cli/staging.hpp"
#include "simulator/cli/validate_request.hpp"
#include "simulator/explain/run.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::cli {

namespace {

double in_ms(Nanoseconds time) { return static_cast<double>(time) / static_cast<double>(kMillisecond); }

campaign::Overlap overlap_of(const analysis::OverlapSummary& summary) {
  return {summary.communication_hidden_ratio(), in_ms(summary.exposed_communication_ns)};
}

/// Median of the runs that came to an end; none where there are none.
std::optional<double> reference_step_ms(const campaign::Folder& folder) {
  std::vector<double> steps;
  for (const campaign::MeasuredRun& run : folder.read_references()) {
    if (!run.failure) steps.push_back(run.step_ms);
  }
  return steps.empty() ? std::nullopt : std::optional(statistics::median(steps));
}

PredictRequest request_of(const campaign::Folder& folder, const campaign::Plan& plan) {
  PredictRequest request;
  request.measured_step_ms = reference_step_ms(folder);
  request.recordings = {plan.recording.value_or(folder.recording(0).string())};
  for (std::int32_t number = 1; !plan.recording && number < plan.recordings; ++number) {
    request.again.push_back(folder.recording(number).string());
  }
  if (plan.machine) request.machine = folder.input(*plan.machine);
  request.run_steps = static_cast<std::int32_t>(
      std::min<std::int64_t>(std::max(plan.steps, plan.warmup), std::numeric_limits<std::int32_t>::max()));
  request.schedules = {folder.input(plan.recorded)};
  for (const std::string& schedule : plan.schedules) request.schedules.push_back(folder.input(schedule));
  return request;
}

/// Overlap as a recording of the same schedules would show it, by position: measured overlap is that of recorded runs.
std::vector<campaign::Overlap> recorded_overlap(PredictRequest request, Console& console) {
  request.under_recorder = true;
  std::vector<campaign::Overlap> overlap;
  for (const report::Prediction& row : predict(request, console).report.predictions) {
    overlap.push_back(overlap_of(row.overlap));
  }
  return overlap;
}

/// Step times in ms of the same schedules under other assumptions, by position.
std::vector<double> baseline(PredictRequest request, bool device_only, Console& console) {
  request.contention = false;
  request.device_only = device_only;
  std::vector<double> steps;
  for (const report::Prediction& row : predict(request, console).report.predictions) {
    steps.push_back(in_ms(row.step_time_ns));
  }
  return steps;
}

}  // namespace

campaign::PredictionFile predict_campaign(const campaign::Folder& folder, const campaign::Plan& plan,
                                          const std::optional<std::filesystem::path>& traces, Console& console) {
  const PredictRequest request = request_of(folder, plan);
  const PredictAnswer answer = predict(request, console);
  if (traces) write_answer(answer, *traces, request.recordings, console);
  const std::vector<campaign::Overlap> overlap = recorded_overlap(request, console);
  const std::vector<double> no_contention = baseline(request, false, console);
  const std::vector<double> critical_path = baseline(request, true, console);
  campaign::PredictionFile file;
  file.recorded = schedule::load(folder.input(plan.recorded)).name;
  for (std::size_t i = 0; i < answer.report.predictions.size(); ++i) {
    const report::Prediction& row = answer.report.predictions[i];
    campaign::PredictedSchedule predicted;
    predicted.schedule = row.schedule;
    predicted.step_ms = in_ms(row.step_time_ns);
    predicted.low_ms = in_ms(row.step_time_low_ns);
    predicted.high_ms = in_ms(row.step_time_high_ns);
    predicted.no_contention_ms = no_contention.at(i);
    predicted.critical_path_ms = critical_path.at(i);
    predicted.overlap = overlap.at(i);
    for (std::size_t k = 0; k < row.memory.size(); ++k) {
      const report::RankMemory& rank = row.memory[k];
      predicted.ranks.push_back(answer.measured.trace.ranks()[k].number);
      predicted.allocated_peak.push_back(rank.allocated_peak);
      predicted.reserved_peak.push_back(rank.reserved_peak);
    }
    file.schedules.push_back(std::move(predicted));
  }
  for (const report::SkippedSchedule& one : answer.report.skipped) file.left_out.push_back({one.schedule, one.why});
  return file;
}

campaign::MeasuredTrace measure_trace(const std::filesystem::path& recording, const std::string& schedule,
                                      Console& console) {
  ingest::Recording read = read_recording({recording.string()}, {}, console);
  const trace::Trace& trace = read.trace;
  const trace_check::StagedWork work = staged(read, std::nullopt);
  const analysis::Annotations annotations(trace);
  const std::vector<std::vector<Interval>> steps = explain::run_of(trace, work).steps;
  const analysis::OverlapSummary summary = analysis::overlap(trace, annotations, analysis::windows_of(steps)).mean;
  campaign::MeasuredTrace measured{
      .schedule = schedule, .step_ms = in_ms(summary.step_ns), .overlap = overlap_of(summary)};
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::vector<Interval>& of_rank : steps) fewest = std::min(fewest, of_rank.size());
  for (std::size_t i = 0; i < fewest; ++i) {
    std::vector<analysis::StepWindow> single;
    for (const std::vector<Interval>& of_rank : steps) single.push_back({of_rank[i], 1});
    const auto hidden = analysis::overlap(trace, annotations, single).mean.communication_hidden_ratio();
    if (hidden) measured.single_steps_hidden.push_back(*hidden);
  }
  return measured;
}

}  // namespace interlace::cli
