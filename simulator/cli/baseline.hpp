#pragma once

#include <future>
#include <optional>
#include <utility>

#include "simulator/analysis/step_analysis.hpp"
#include "simulator/base/at_once.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/cli/overlap_anchor.hpp"
#include "simulator/replay/anchor.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/report/predict_report.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::cli {

/// A schedule as replayed, with what is told of its steps.
struct Replayed {
  replay::Prediction prediction;  ///< without `simulated`, the largest part of it by far, which has told what it tells
  analysis::StepAnalysis steps;
};

/// recorded: what the predictor was made from. Without its trace unless keeps_trace. Throws as Predictor::predict does.
[[nodiscard]] Replayed replayed(const schedule::Schedule& schedule, const replay::Predictor& predictor,
                                const trace::Trace& recorded, const replay::PredictOptions& options,
                                bool keeps_trace = true);

/// The recorded schedule replayed: what other schedules are compared with, and corrected by what it is off.
class Baseline {
 public:
  Baseline(Replayed itself, std::optional<replay::Anchor> step, std::optional<OverlapAnchor> overlap)
      : itself_(std::move(itself)), step_(step), overlap_(overlap) {}

  /// As replayed: nothing is corrected.
  [[nodiscard]] const Replayed& itself() const { return itself_; }
  /// The corrected one.
  [[nodiscard]] Nanoseconds step_time() const;
  /// Counts as replay::Anchor::judge does.
  void judge(Diagnostics& diagnostics) const;
  /// What replaying the recorded schedule told.
  void describe(report::RecordedRun& recorded) const;
  /// Corrects times and overlap of a schedule's row, which are as replayed, and says what it does otherwise than the
  /// recorded one. Reasons are of both as replayed, since corrections differ.
  void relate(const Replayed& schedule, report::Prediction& row) const;

 private:
  Replayed itself_;
  std::optional<replay::Anchor> step_;
  std::optional<OverlapAnchor> overlap_;
};

/// Replays of the job as it was recorded, which several baselines of it have in common: each is simulated once.
struct SharedReplays {
  std::shared_future<OverlapAnchor> overlap;
  std::shared_future<Nanoseconds> step;
};

/// What a baseline is made from. All that is pointed at must outlive the simulations.
struct BaselineJob {
  const trace::Trace* trace = nullptr;
  const schedule::Schedule* schedule = nullptr;
  const replay::Predictor* predictor = nullptr;     ///< of the job as it was recorded
  const replay::Predictor* edited = nullptr;        ///< of the job that is asked for: the same where nothing is edited
  replay::PredictOptions options;                   ///< as asked for
  std::optional<analysis::OverlapSummary> overlap;  ///< as recorded
  bool is_corrected = true;                         ///< false: what is asked for is too far from what was recorded
  bool keeps_trace = true;                          ///< of the replay
  SharedReplays* shared = nullptr;                  ///< with other baselines, where there are any
};

/// Adds the simulations that the baseline needs to `all`. The future has it once they have run, or throws what they
/// threw.
[[nodiscard]] std::future<Baseline> replay_recorded(const BaselineJob& job, AtOnce& all);

}  // namespace interlace::cli
