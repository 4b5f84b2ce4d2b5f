#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gui/session/recorded.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/cli/overlap_anchor.hpp"
#include "simulator/replay/anchor.hpp"
#include "simulator/replay/predict.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kCannotPredict{"gui.cannot_predict"};

/// What one schedule is predicted to do to a recording.
struct Forecast {
  schedule::Schedule schedule;
  RunPtr run;
  report::Prediction row;
  /// The recorded schedule replayed, where it is known: what the speed-up refers to.
  std::optional<Nanoseconds> replayed_step_ns;
  std::optional<double> replay_error;           ///< as report::RecordedRun has it
  std::optional<double> replayed_hidden_ratio;  ///< the same
  std::optional<double> recorded_hidden_ratio;  ///< that the recording shows
  std::vector<Diagnostic> diagnostics;          ///< what replaying the recorded schedule showed of the recording
};

using ForecastPtr = std::shared_ptr<const Forecast>;

/// Predicts schedules from one recording. Remembers the recorded schedule replayed, which the others are compared with;
/// so it is for one thread at a time.
class Forecaster {
 public:
  explicit Forecaster(RecordedPtr recorded) : recorded_(std::move(recorded)) {}

  /// Blocks. Throws gui.cannot_predict, replay.stage_not_recorded, Cancelled.
  [[nodiscard]] ForecastPtr predict(const schedule::Schedule& schedule, const Progress& progress);

  /// The same of one among many; where it says nothing about this recording, why.
  [[nodiscard]] std::variant<ForecastPtr, std::string> predict_if_it_applies(const schedule::Schedule& schedule,
                                                                             const Progress& progress);

  /// The recorded schedule replayed: what speed-ups refer to. None before the first prediction, and where the recorded
  /// schedule is not known.
  [[nodiscard]] std::optional<Nanoseconds> replayed_step() const;

 private:
  struct Replayed {
    replay::Prediction prediction;
    analysis::StepAnalysis steps;
  };
  [[nodiscard]] Replayed replay(const schedule::Schedule& schedule) const;
  void replay_recorded();
  /// Throws gui.cannot_predict.
  void refuse_where_nothing_can_be_predicted() const;

  RecordedPtr recorded_;
  std::optional<Replayed> itself_;
  std::optional<replay::Anchor> step_anchor_;  ///< where the recording tells what steps took without the recorder
  std::optional<cli::OverlapAnchor> overlap_anchor_;
  Diagnostics diagnostics_;  ///< of that replay
};

}  // namespace interlace::gui
