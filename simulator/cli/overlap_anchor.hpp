#pragma once

#include <optional>

#include "simulator/analysis/overlap.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::cli {

/// Corrects the predicted hidden part of communication by what the replay of the recorded schedule is off from its
/// recording. That shows it whatever else it tells, so unlike the step without the recorder (replay/anchor.hpp) it is
/// known of every recording. As with steps a part of the error is the schedule's own (races that end otherwise): the
/// others share half of it (docs/decisions/0014).
class OverlapAnchor {
 public:
  /// recorded: as the recording shows it; replayed: its schedule replayed, the hosts as slow as under the recorder.
  OverlapAnchor(const analysis::OverlapSummary& recorded, const analysis::OverlapSummary& replayed);

  /// Logarithm of the odds (hidden over exposed) as replayed, less that as recorded; 0 where either has no
  /// communication. In odds nothing hidden stays nothing, and all hidden stays all.
  [[nodiscard]] double error() const { return error_; }
  /// Of the replay, before it is corrected; none where there is no communication.
  [[nodiscard]] std::optional<double> replayed_ratio() const { return replayed_; }

  /// Hides more communication or less, of the same length. All else stays as replayed (idle time is mostly right where
  /// the hidden part is not), so that the parts no longer make up the step to the nanosecond.
  /// likeness: as of replay::Anchor.
  void correct(analysis::OverlapSummary& overlap, double likeness) const;

 private:
  std::optional<double> replayed_;
  double error_ = 0;
};

/// How nearly a schedule replays as the recorded one does, by its step, exposed communication and idle time: 1 where
/// these are the same, as where a wait was added that another implies, and 0 from differences of a percent of a step
/// on. So a schedule that differs by next to nothing is not told apart by what it is corrected by.
[[nodiscard]] double likeness(const analysis::OverlapSummary& recorded, const analysis::OverlapSummary& other);

/// From a replay of the recorded schedule. unedited: of the recording as it is.
[[nodiscard]] OverlapAnchor overlap_anchor(const analysis::OverlapSummary& recorded, const replay::Predictor& unedited,
                                           const schedule::Schedule& schedule, replay::PredictOptions options);

}  // namespace interlace::cli
