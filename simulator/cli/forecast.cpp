#include "simulator/cli/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulator/analysis/compare.hpp"
#include "simulator/cli/errors.hpp"
#include "simulator/cli/prediction_row.hpp"
#include "simulator/replay/applicable.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/stages/unmatched_rules.hpp"
#include "simulator/what_if/apply.hpp"

namespace interlace::cli {

namespace {

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

/// A stage may be missing since the user's profile does not find it.
Error with_advice_on_profile(const Error& error, const Diagnostics& found) {
  const auto unmatched = std::ranges::find(found.entries(), stages::kUnmatchedRule.code, &Diagnostic::code);
  const std::string_view advice = "or have the annotation profile (--profile) name it as the recording does";
  const std::string rule =
      unmatched == found.entries().end() ? "" : fmt::format(": no annotation matches {}", unmatched->first_place);
  return {replay::kStageNotRecorded, error.place(), error.problem(),
          fmt::format("{}, {}{}", error.advice(), advice, rule)};
}

}  // namespace

Forecast::Forecast(const RecordedJob& job, UneditedReplay& unedited, const PredictRequest& request,
                   std::span<const what_if::Edit> edits, ForecastParts parts)
    : job_(job),
      unedited_(unedited),
      request_(request),
      parts_(parts),
      as_it_is_(edits.empty() && request.contention),
      options_(options_of(request)),
      diagnostics_(job.recording().diagnostics),
      predictor_(edited_predictor(edits)) {
  if (parts.memory && job.known() != nullptr) predictor_.learn_memory(*job.known(), diagnostics_);
  report::RecordedRun& recorded = answer_.report.recorded = job.recorded();
  recorded.capacity = options_.memory.capacity;
  for (const what_if::Edit& edit : edits) recorded.edits.push_back(what_if::describe(edit));
}

replay::Predictor Forecast::edited_predictor(std::span<const what_if::Edit> edits) const {
  replay::SiteTable edited = what_if::apply_edits(job_.sites(), edits);
  std::vector<const schedule::Schedule*> replayed;
  if (job_.known() != nullptr) replayed.push_back(job_.known());
  for (const schedule::AskedSchedule& one : job_.asked()) replayed.push_back(&one.schedule);
  what_if::refuse_idle_edits(edits, replayed);
  if (request_.device_only) {
    edited.launch_latency_ns = 0;
    edited.wait_latency_ns = 0;
  }
  return {job_.recording().trace, job_.cut(), std::move(edited)};
}

Predicted Forecast::run(const schedule::Schedule& schedule) const {
  replay::Prediction prediction = predictor_.predict(schedule, options_);
  std::vector<analysis::StepWindow> windows = analysis::windows_of(prediction.steps);
  analysis::StepAnalysis steps = analyse_prediction(prediction, job_.recording().trace);
  prediction.simulated = {};  // the largest part of it by far, which has told what it tells
  if (!parts_.traces) const trace::Trace given_back = std::move(prediction.trace);
  return {std::move(prediction), std::move(windows), std::move(steps)};
}

void Forecast::simulate_recorded(AtOnce& all) {
  simulated_itself_ = all.add("predicting " + job_.known()->name, [this] { return run(*job_.known()); });
  if (request_.device_only) return;
  replay::PredictOptions options = options_;
  options.simulation.machine.contention = true;
  if (!unedited_.predictor) unedited_.predictor.emplace(job_.recording().trace, job_.cut(), job_.sites());
  const auto& recorded = job_.recorded().overlap;
  if (recorded && !(as_it_is_ && request_.under_recorder) && !unedited_.overlap_anchor.valid()) {
    unedited_.overlap_anchor = all.add("replaying the recording", [this, options] {
      return overlap_anchor(*job_.recorded().overlap, *unedited_.predictor, *job_.known(), options);
    });
  }
  if (job_.sites().unrecorded_step_ns && !request_.under_recorder && !as_it_is_ && !unedited_.step.valid()) {
    unedited_.step = all.add("replaying the recorded job", [this, options] {
      return unedited_.predictor->predict(*job_.known(), options).step_time;
    });
  }
}

void Forecast::simulate(AtOnce& all) {
  if (job_.known() != nullptr) simulate_recorded(all);
  for (const schedule::AskedSchedule& one : job_.asked()) {
    std::future<Predicted>& simulated = simulated_asked_.emplace_back();
    const bool is_left_out = !one.by_name && replay::lost_stage(one.schedule, predictor_.sites());
    if (job_.is_recorded(one.schedule) || is_left_out) continue;
    simulated = all.add("predicting " + one.schedule.name, [this, &one] { return run(one.schedule); });
  }
}

void Forecast::replay_recorded() {
  report::RecordedRun& recorded = answer_.report.recorded;
  itself_ = simulated_itself_.get();
  if (unedited_.overlap_anchor.valid()) {
    overlap_anchor_ = unedited_.overlap_anchor.get();
  } else if (recorded.overlap && !request_.device_only) {
    overlap_anchor_.emplace(*recorded.overlap, itself_->steps.overlap.mean);
  }
  if (job_.sites().unrecorded_step_ns && !request_.under_recorder && !request_.device_only) {
    step_anchor_.emplace(*job_.sites().unrecorded_step_ns,
                         unedited_.step.valid() ? unedited_.step.get() : itself_->prediction.step_time);
  }
  if (step_anchor_) {
    step_anchor_->correct(itself_->prediction, 1.0);
    step_anchor_->judge(diagnostics_);
    recorded.replay_error = step_anchor_->error();
  }
  if (overlap_anchor_) recorded.replayed_hidden_ratio = overlap_anchor_->replayed_ratio();
  recorded.predicted_step_time_ns = itself_->prediction.step_time;
}

void Forecast::add_prediction(const schedule::Schedule& schedule, std::future<Predicted>& simulated) {
  const bool is_itself = job_.is_recorded(schedule);
  Predicted predicted = is_itself ? *itself_ : simulated.get();
  predicted.prediction.schedule = schedule.name;
  const double alike = itself_ ? likeness(itself_->steps.overlap.mean, predicted.steps.overlap.mean) : 0.0;
  if (step_anchor_ && !is_itself) step_anchor_->correct(predicted.prediction, alike);
  Diagnostics assumptions;
  if (!request_.contention) assumptions.count(replay::kContentionOff);
  if (const auto lost = replay::lost_stage(schedule, predictor_.sites())) {
    assumptions.count(replay::kStageLeftOut, schedule::to_string(*lost));
  }
  report::Prediction& row = answer_.report.predictions.emplace_back(prediction_row(
      schedule, predicted.prediction, predicted.steps, job_.cut().modules, assumptions, predictor_.sites().lone_rank));
  if (overlap_anchor_) overlap_anchor_->correct(row.overlap, alike);
  if (itself_) compare_with_recorded(*itself_, predicted, row);
  if (!parts_.traces) return;
  answer_.traces.push_back({schedule.name, std::move(predicted.prediction.trace), std::move(predicted.windows)});
}

void Forecast::add(const schedule::AskedSchedule& one, std::future<Predicted>& simulated) {
  if (one.by_name) {
    try {
      add_prediction(one.schedule, simulated);
    } catch (const Error& error) {
      if (!request_.profile || error.code() != replay::kStageNotRecorded.name) throw;
      throw with_advice_on_profile(error, diagnostics_);
    }
    return;
  }
  auto why =
      replay::predict_if_applicable(one.schedule, predictor_.sites(), [&] { add_prediction(one.schedule, simulated); });
  if (why) answer_.report.skipped.push_back({one.schedule.name, std::move(*why)});
}

Forecast::Answer Forecast::answer() {
  if (job_.known() != nullptr) replay_recorded();
  for (std::size_t i = 0; i < job_.asked().size(); ++i) add(job_.asked()[i], simulated_asked_[i]);
  const auto known_memory = [](const report::Prediction& row) { return !row.memory.empty(); };
  if (request_.gpu_memory_gib && std::ranges::none_of(answer_.report.predictions, known_memory)) {
    diagnostics_.count(kMemoryNotRecorded, request_.recordings.front());
  }
  answer_.report.recorded.diagnostics = diagnostics_.entries();
  return std::move(answer_);
}

}  // namespace interlace::cli
