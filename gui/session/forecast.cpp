#include "gui/session/forecast.hpp"

#include <utility>

#include "gui/session/tagging.hpp"
#include "simulator/analysis/compare.hpp"
#include "simulator/cli/prediction_row.hpp"
#include "simulator/replay/applicable.hpp"

namespace interlace::gui {

Forecaster::Replayed Forecaster::replay(const schedule::Schedule& schedule) const {
  replay::Prediction prediction = recorded_->predictor->predict(schedule, {});
  analysis::StepAnalysis steps = cli::analyse_prediction(prediction, recorded_->run->trace());
  return {std::move(prediction), std::move(steps)};
}

std::optional<Nanoseconds> Forecaster::replayed_step() const {
  if (!itself_) return std::nullopt;
  return itself_->prediction.step_time;
}

void Forecaster::replay_recorded() {
  const replay::Predictor& predictor = *recorded_->predictor;
  itself_ = replay(*recorded_->schedule);
  if (const auto measured = predictor.sites().unrecorded_step_ns) {
    step_anchor_.emplace(*measured, itself_->prediction.step_time);
    step_anchor_->correct(itself_->prediction, 1.0);
    step_anchor_->judge(diagnostics_);
  }
  if (const auto& overlap = recorded_->facts.overlap) {
    const replay::Predictor without_memory(recorded_->run->trace(), *recorded_->cut, predictor.sites());
    overlap_anchor_ = cli::overlap_anchor(*overlap, without_memory, *recorded_->schedule, {});
  }
}

std::variant<ForecastPtr, std::string> Forecaster::predict_if_it_applies(const schedule::Schedule& schedule,
                                                                         const Progress& progress) {
  refuse_where_nothing_can_be_predicted();
  ForecastPtr forecast;
  const auto why_not = replay::predict_if_applicable(schedule, recorded_->predictor->sites(),
                                                     [&] { forecast = predict(schedule, progress); });
  if (why_not) return *why_not;
  return forecast;
}

void Forecaster::refuse_where_nothing_can_be_predicted() const {
  if (recorded_->predictor) return;
  throw Error(
      kCannotPredict, recorded_->files.front().string(),
      "nothing can be predicted from the recording: " + recorded_->no_predictions,
      "record with the profiler and TorchRec's annotations, or name a profile of yours (--profile); what is there "
      "can be looked at all the same");
}

ForecastPtr Forecaster::predict(const schedule::Schedule& schedule, const Progress& progress) {
  refuse_where_nothing_can_be_predicted();
  if (recorded_->schedule && !itself_) {
    progress.begin("replaying " + recorded_->schedule->name);
    replay_recorded();
  }
  progress.begin("predicting " + schedule.name);
  const bool is_itself = itself_ && schedule::same_pipeline(schedule, *recorded_->schedule);
  Replayed replayed = is_itself ? *itself_ : replay(schedule);
  replayed.prediction.schedule = schedule.name;
  const double alike = itself_ ? cli::likeness(itself_->steps.overlap.mean, replayed.steps.overlap.mean) : 0.0;
  if (step_anchor_ && !is_itself) step_anchor_->correct(replayed.prediction, alike);
  auto forecast = std::make_shared<Forecast>();
  forecast->schedule = schedule;
  forecast->row = cli::prediction_row(schedule, replayed.prediction, replayed.steps, recorded_->cut->modules, {},
                                      recorded_->predictor->sites().lone_rank);
  if (overlap_anchor_) overlap_anchor_->correct(forecast->row.overlap, alike);
  if (itself_) {
    forecast->replayed_step_ns = itself_->prediction.step_time;
    forecast->diagnostics = diagnostics_.entries();
    if (step_anchor_) forecast->replay_error = step_anchor_->error();
    if (overlap_anchor_) {
      forecast->replayed_hidden_ratio = overlap_anchor_->replayed_ratio();
      forecast->recorded_hidden_ratio = recorded_->facts.overlap->communication_hidden_ratio();
    }
    forecast->row.speedup =
        static_cast<double>(itself_->prediction.step_time) / static_cast<double>(replayed.prediction.step_time);
    for (analysis::Reason& reason : analysis::compare(itself_->steps, replayed.steps)) {
      forecast->row.reasons.push_back(std::move(reason.text));
    }
  }
  progress.begin("laying out " + schedule.name);
  Tags tags = tags_of_prediction(replayed.prediction.trace);
  Diagnostics of_prediction;  // what is known is that of the recording
  const graph::ProcessGroups groups(replayed.prediction.trace, of_prediction);
  forecast->run = std::make_shared<Run>(schedule.name, std::move(replayed.prediction.trace), std::move(tags),
                                        std::move(replayed.prediction.steps), groups, of_prediction);
  return forecast;
}

}  // namespace interlace::gui
