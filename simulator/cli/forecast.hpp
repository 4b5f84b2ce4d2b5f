#pragma once

#include <future>
#include <optional>
#include <span>
#include <vector>

#include "simulator/base/at_once.hpp"
#include "simulator/cli/baseline.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recorded_job.hpp"
#include "simulator/what_if/edit.hpp"

namespace interlace::cli {

/// The job as it was recorded, for forecasts of it with edits: its errors are what is corrected. Several of them
/// simulate it once.
struct UneditedReplay {
  std::optional<replay::Predictor> predictor;  ///< where anything is edited
  SharedReplays replays;
};

/// What a forecast makes besides step times and what they are made up of.
struct ForecastParts {
  bool traces = true;
  bool memory = true;
};

/// What is predicted of a job with some edits.
class Forecast {
 public:
  /// All must outlive it. Throws Error(what_if.no_match).
  Forecast(const RecordedJob& job, UneditedReplay& unedited, const PredictRequest& request,
           std::span<const what_if::Edit> edits, ForecastParts parts);

  /// Adds what is to be simulated, before any of it is told. Once, and then answer() once that is done.
  void simulate(AtOnce& all);
  /// So many of these simulations may run at the same time.
  [[nodiscard]] std::size_t fit_at_once() const { return predictor_.fit_at_once(options_); }

  struct Answer {
    report::PredictReport report;
    std::vector<SteadyTrace> traces;  ///< one a prediction, where they are wanted
  };
  /// Throws what predicting a schedule that was asked for by its name does.
  Answer answer();

 private:
  replay::Predictor edited_predictor(std::span<const what_if::Edit> edits) const;
  BaselineJob baseline_job();
  void settle_baseline();
  void add(const schedule::AskedSchedule& one, std::future<Replayed>& simulated);
  void add_prediction(const schedule::Schedule& schedule, std::future<Replayed>& simulated);

  const RecordedJob& job_;
  UneditedReplay& unedited_;
  const PredictRequest& request_;
  ForecastParts parts_;
  bool is_edited_;
  replay::PredictOptions options_;
  Diagnostics diagnostics_;  ///< of the recording, and of what is made of it here
  replay::Predictor predictor_;
  /// A future without a state is of what is not simulated.
  std::future<Baseline> simulated_baseline_;
  std::vector<std::future<Replayed>> simulated_asked_;
  Answer answer_;
  std::optional<Baseline> baseline_;  ///< none where the recorded schedule is not known
};

}  // namespace interlace::cli
