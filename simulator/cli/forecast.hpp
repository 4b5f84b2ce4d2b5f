#pragma once

#include <future>
#include <optional>
#include <span>
#include <vector>

#include "simulator/analysis/step_analysis.hpp"
#include "simulator/base/at_once.hpp"
#include "simulator/cli/overlap_anchor.hpp"
#include "simulator/cli/predict_request.hpp"
#include "simulator/cli/recorded_job.hpp"
#include "simulator/replay/anchor.hpp"
#include "simulator/what_if/edit.hpp"

namespace interlace::cli {

/// One predicted schedule with all that the report needs of it.
struct Predicted {
  replay::Prediction prediction;
  std::vector<analysis::StepWindow> windows;
  analysis::StepAnalysis steps;
};

/// The recorded schedule replayed in the job as it was recorded, whatever is asked for: its errors are what is
/// corrected. Several forecasts of a job simulate it once.
struct UneditedReplay {
  std::optional<replay::Predictor> predictor;
  std::shared_future<OverlapAnchor> overlap_anchor;
  std::shared_future<Nanoseconds> step;
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
  void simulate_recorded(AtOnce& all);
  void replay_recorded();
  void add(const schedule::AskedSchedule& one, std::future<Predicted>& simulated);
  void add_prediction(const schedule::Schedule& schedule, std::future<Predicted>& simulated);
  Predicted run(const schedule::Schedule& schedule) const;

  const RecordedJob& job_;
  UneditedReplay& unedited_;
  const PredictRequest& request_;
  ForecastParts parts_;
  bool as_it_is_;  ///< nothing is asked for that would make the replayed job another than the recorded one
  replay::PredictOptions options_;
  Diagnostics diagnostics_;  ///< of the recording, and of what is made of it here
  replay::Predictor predictor_;
  /// A future without a state is of what is not simulated.
  std::future<Predicted> simulated_itself_;
  std::vector<std::future<Predicted>> simulated_asked_;
  Answer answer_;
  std::optional<Predicted> itself_;  ///< the recorded schedule replayed
  std::optional<replay::Anchor> step_anchor_;
  std::optional<OverlapAnchor> overlap_anchor_;
};

}  // namespace interlace::cli
