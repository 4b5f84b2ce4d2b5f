#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gui/session/recorded.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/cli/baseline.hpp"
#include "simulator/schedule/library.hpp"

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

/// What came of a schedule that was asked for: of one among many that says nothing about the recording, why.
using Answer = std::variant<ForecastPtr, std::string>;

/// Predicts schedules from one recording. Remembers the recorded schedule replayed, which the others are compared with;
/// so it is for one thread at a time.
class Forecaster {
 public:
  explicit Forecaster(RecordedPtr recorded) : recorded_(std::move(recorded)) {}

  /// Blocks. Throws gui.cannot_predict, replay.stage_not_recorded, Cancelled.
  [[nodiscard]] ForecastPtr predict(const schedule::Schedule& schedule, const Progress& progress);

  /// The answer to the schedule that was asked for at this place, or what predicting it threw.
  using Answered = std::function<void(std::size_t place, std::future<Answer> answer)>;
  /// The same of several at once, as many as half of the memory holds. Each is answered in its turn, as soon as those
  /// before it are; one at a time, on any thread. Throws gui.cannot_predict, what replaying the recorded schedule
  /// throws, and Cancelled, after which no more is answered.
  void predict(std::span<const schedule::AskedSchedule> asked, const Progress& progress, const Answered& answered);

  /// The recorded schedule replayed: what speed-ups refer to. None before the first prediction, and where the recorded
  /// schedule is not known.
  [[nodiscard]] std::optional<Nanoseconds> replayed_step() const;

 private:
  /// Throws gui.cannot_predict.
  void refuse_where_nothing_can_be_predicted() const;
  /// Replays the recorded schedule where that is yet to be done.
  void prepare(const Progress& progress);
  [[nodiscard]] Answer answer_to(const schedule::AskedSchedule& asked, const Progress& progress) const;
  [[nodiscard]] ForecastPtr forecast_of(const schedule::Schedule& schedule, const Progress& progress) const;

  RecordedPtr recorded_;
  std::optional<cli::Baseline> baseline_;
  Diagnostics diagnostics_;  ///< of that replay
};

}  // namespace interlace::gui
