#include "simulator/cli/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulator/cli/errors.hpp"
#include "simulator/cli/prediction_row.hpp"
#include "simulator/replay/applicable.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/stages/unmatched_rules.hpp"
#include "simulator/what_if/apply.hpp"

namespace interlace::cli {

namespace {

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
      is_edited_(!edits.empty()),
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

BaselineJob Forecast::baseline_job() {
  if (is_edited_ && !unedited_.predictor) {
    unedited_.predictor.emplace(job_.recording().trace, job_.cut(), job_.sites());
  }
  return {.trace = &job_.recording().trace,
          .schedule = job_.known(),
          .predictor = is_edited_ ? &*unedited_.predictor : &predictor_,
          .edited = &predictor_,
          .options = options_,
          .overlap = job_.recorded().overlap,
          .is_corrected = !request_.device_only,
          .keeps_trace = parts_.traces,
          .shared = &unedited_.replays};
}

void Forecast::simulate(AtOnce& all) {
  if (job_.known() != nullptr) simulated_baseline_ = replay_recorded(baseline_job(), all);
  for (const schedule::AskedSchedule& one : job_.asked()) {
    std::future<Replayed>& simulated = simulated_asked_.emplace_back();
    const bool is_left_out = !one.by_name && replay::lost_stage(one.schedule, predictor_.sites());
    if (job_.is_recorded(one.schedule) || is_left_out) continue;
    simulated = all.add("predicting " + one.schedule.name, [this, &one] {
      return replayed(one.schedule, predictor_, job_.recording().trace, options_, parts_.traces);
    });
  }
}

void Forecast::settle_baseline() {
  baseline_ = simulated_baseline_.get();
  baseline_->judge(diagnostics_);
  baseline_->describe(answer_.report.recorded);
}

void Forecast::add_prediction(const schedule::Schedule& schedule, std::future<Replayed>& simulated) {
  Replayed predicted = job_.is_recorded(schedule) ? baseline_->itself() : simulated.get();
  predicted.prediction.schedule = schedule.name;
  Diagnostics assumptions;
  if (!request_.contention) assumptions.count(replay::kContentionOff);
  if (const auto lost = replay::lost_stage(schedule, predictor_.sites())) {
    assumptions.count(replay::kStageLeftOut, to_string(*lost));
  }
  report::Prediction& row = answer_.report.predictions.emplace_back(
      prediction_row(schedule, predicted.prediction, predicted.steps, job_.cut().modules, assumptions,
                     {.feature_processors = request_.feature_processors, .one_rank = predictor_.sites().lone_rank}));
  if (baseline_) baseline_->relate(predicted, row);
  if (!parts_.traces) return;
  answer_.traces.push_back(
      {schedule.name, std::move(predicted.prediction.trace), analysis::windows_of(predicted.prediction.steps)});
}

void Forecast::add(const schedule::AskedSchedule& one, std::future<Replayed>& simulated) {
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
  if (job_.known() != nullptr) settle_baseline();
  for (std::size_t i = 0; i < job_.asked().size(); ++i) add(job_.asked()[i], simulated_asked_[i]);
  const auto known_memory = [](const report::Prediction& row) { return !row.memory.empty(); };
  if (request_.gpu_memory_gib && std::ranges::none_of(answer_.report.predictions, known_memory)) {
    diagnostics_.count(kMemoryNotRecorded, request_.recordings.front());
  }
  answer_.report.recorded.diagnostics = diagnostics_.entries();
  return std::move(answer_);
}

}  // namespace interlace::cli
