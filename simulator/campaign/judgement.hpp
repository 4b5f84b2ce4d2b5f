#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/campaign/campaign.hpp"

namespace interlace::campaign {

/// Errors of one schedule, in percent; > 0: predicted too slow or too large.
struct ScheduleJudgement {
  std::string schedule;
  bool recorded = false;  ///< the one that was predicted from
  std::size_t runs = 0;   ///< measured
  std::optional<std::string> failure;
  double measured_ms = 0;           ///< median of the runs
  std::optional<double> spread_ms;  ///< the most that a run is off the median; none of a single run
  double predicted_ms = 0;
  std::optional<double> step_error;  ///< none where nothing was measured
  /// Of the ratio to the recorded schedule's step, predicted against measured; none of that schedule itself.
  std::optional<double> speedup_error;
  std::optional<double> no_change_error;      ///< the same, of predicting that nothing changes
  std::optional<double> no_contention_error;  ///< of the replay in which works do not slow each other
  std::optional<double> critical_path_error;  ///< of that without host and launches besides
  bool inside = false;                        ///< the median lies between the predicted 10th and 90th percentile
  std::optional<Overlap> measured_overlap;    ///< of the recorded runs, their mean
  Overlap predicted_overlap;
  std::optional<double> overlap_error;  ///< of the hidden part of communication, in percentage points
  std::optional<double> overlap_floor;  ///< standard error of the measured one, by its runs or one's steps, in points
  std::optional<Bytes> measured_allocated;  ///< of the rank that has most; median of the runs
  std::optional<Bytes> predicted_allocated;
  std::optional<double> allocated_error;  ///< of the rank with the largest one
  std::optional<Bytes> measured_reserved;
  std::optional<Bytes> predicted_reserved;
  std::optional<double> reserved_error;
};

/// Mean and largest of the sizes of some errors.
struct ErrorSizes {
  double mean = 0;
  double largest = 0;
  std::size_t count = 0;
};

/// Errors are summed up over the predicted schedules, the recorded one left out.
struct Judgement {
  std::vector<ScheduleJudgement> schedules;  ///< those that ran, in the order of the prediction
  ErrorSizes speedup;
  ErrorSizes no_change;
  ErrorSizes no_contention;
  ErrorSizes critical_path;
  ErrorSizes step;
  /// How far the speed-ups of single rounds are off those of the medians: what no prediction can be held below.
  ErrorSizes repeat_floor;
  ErrorSizes overlap_points;
  ErrorSizes overlap_floor;
  ErrorSizes allocated;
  ErrorSizes reserved;
  /// Of several runs each, whose medians differ by more than twice the larger spread of both.
  std::size_t pairs_counted = 0;
  std::size_t pairs_right = 0;  ///< of these, predicted in the measured order
  std::vector<std::string> pairs_wrong;
};

/// Holds a prediction against what was measured. Pure arithmetic: the same files give the same figures.
[[nodiscard]] Judgement judge(const PredictionFile& prediction, std::span<const MeasuredRun> runs,
                              std::span<const MeasuredTrace> traces);

}  // namespace interlace::campaign
