#include "gui/session/forecast.hpp"

#include <mutex>
#include <utility>

#include "gui/session/tagging.hpp"
#include "simulator/base/at_once.hpp"
#include "simulator/cli/prediction_row.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/replay/applicable.hpp"

namespace interlace::gui {

namespace {

/// Hands answers on in the order in which they were asked for, whichever comes first.
class InTurn {
 public:
  InTurn(std::size_t asked, const Forecaster::Answered& answered) : answers_(asked), answered_(&answered) {}

  void add(std::size_t place, std::future<Answer> answer) {
    const std::scoped_lock lock(one_at_a_time_);
    answers_[place] = std::move(answer);
    for (; next_ < answers_.size() && answers_[next_].valid(); ++next_) (*answered_)(next_, std::move(answers_[next_]));
  }

 private:
  std::mutex one_at_a_time_;
  std::vector<std::future<Answer>> answers_;
  const Forecaster::Answered* answered_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<Nanoseconds> Forecaster::replayed_step() const {
  if (!baseline_) return std::nullopt;
  return baseline_->step_time();
}

void Forecaster::refuse_where_nothing_can_be_predicted() const {
  if (recorded_->predictor) return;
  throw Error(
      kCannotPredict, recorded_->files.front().string(),
      "nothing can be predicted from the recording: " + recorded_->no_predictions,
      "record with the profiler and TorchRec's annotations, or name a profile of yours (--profile); what is there "
      "can be looked at all the same");
}

void Forecaster::prepare(const Progress& progress) {
  refuse_where_nothing_can_be_predicted();
  if (!recorded_->schedule || baseline_) return;
  const replay::Predictor& predictor = *recorded_->predictor;
  AtOnce all;
  std::future<cli::Baseline> baseline = cli::replay_recorded({.trace = &recorded_->run->trace(),
                                                              .schedule = &*recorded_->schedule,
                                                              .predictor = &predictor,
                                                              .edited = &predictor,
                                                              .options = {},
                                                              .overlap = recorded_->facts.overlap},
                                                             all);
  all.run(predictor.fit_at_once({}), [&](const std::string& doing) { progress.begin(doing); });
  baseline_ = baseline.get();
  baseline_->judge(diagnostics_);
}

ForecastPtr Forecaster::predict(const schedule::Schedule& schedule, const Progress& progress) {
  prepare(progress);
  return forecast_of(schedule, progress);
}

void Forecaster::predict(std::span<const schedule::AskedSchedule> asked, const Progress& progress,
                         const Answered& answered) {
  if (asked.empty()) return;  // a recording from which nothing can be predicted is no failure then
  prepare(progress);
  InTurn in_turn(asked.size(), answered);
  AtOnce all;
  std::vector<std::future<void>> over;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    over.push_back(all.add(asked[i].schedule.name, [&, i] {
      std::packaged_task<Answer()> task([&] { return answer_to(asked[i], progress); });
      task();
      if (!progress.stop.stop_requested()) in_turn.add(i, task.get_future());
    }));
  }
  // What does not apply is not told to be predicted: each says itself what it does.
  all.run(recorded_->predictor->fit_at_once({}), [&](const std::string& /*doing*/) { progress.go_on(); });
  for (std::future<void>& one : over) one.get();
  progress.go_on();
}

Answer Forecaster::answer_to(const schedule::AskedSchedule& asked, const Progress& progress) const {
  if (asked.by_name) return forecast_of(asked.schedule, progress);
  ForecastPtr forecast;
  auto why_not = replay::predict_if_applicable(asked.schedule, recorded_->predictor->sites(),
                                               [&] { forecast = forecast_of(asked.schedule, progress); });
  if (why_not) return std::move(*why_not);
  return forecast;
}

ForecastPtr Forecaster::forecast_of(const schedule::Schedule& schedule, const Progress& progress) const {
  progress.begin("predicting " + schedule.name);
  const bool is_itself = baseline_ && schedule::same_pipeline(schedule, *recorded_->schedule);
  cli::Replayed replayed =
      is_itself ? baseline_->itself() : cli::replayed(schedule, *recorded_->predictor, recorded_->run->trace(), {});
  replayed.prediction.schedule = schedule.name;
  auto forecast = std::make_shared<Forecast>();
  forecast->schedule = schedule;
  forecast->row = cli::prediction_row(schedule, replayed.prediction, replayed.steps, recorded_->cut->modules, {},
                                      {.one_rank = recorded_->predictor->sites().lone_rank});
  if (baseline_) {
    baseline_->relate(replayed, forecast->row);
    report::RecordedRun told;
    baseline_->describe(told);
    forecast->replayed_step_ns = told.predicted_step_time_ns;
    forecast->replay_error = told.replay_error;
    forecast->replayed_hidden_ratio = told.replayed_hidden_ratio;
    if (recorded_->facts.overlap) {
      forecast->recorded_hidden_ratio = recorded_->facts.overlap->communication_hidden_ratio();
    }
    forecast->diagnostics = diagnostics_.entries();
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
