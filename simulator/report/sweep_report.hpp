#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// What the swept number of an edit counts.
enum class SweepScale : std::uint8_t { kTimes, kMicroseconds };

/// The answer of `interlace sweep`: the same schedules predicted with one value after the other of what is swept.
struct SweepReport {
  RecordedRun recorded;       ///< with the edits that hold at all values
  std::string swept;          ///< in words, with x for the value: "the host takes x times as long"
  std::string edit;           ///< where it was read: "host.json: edit 1"
  bool is_bandwidth = false;  ///< times go with 1/x, all else with x
  SweepScale scale = SweepScale::kTimes;
  std::vector<double> values;                 ///< ascending
  std::vector<std::vector<Prediction>> rows;  ///< by value, all of the same schedules
  double around = 1;                          ///< the value at which `costs` are told
  std::vector<double> costs;                  ///< by schedule, as of cost()
  std::vector<SkippedSchedule> skipped;
};

/// What a bit more of what is swept costs, between two of its values: of kTimes the percents of a step a percent of it
/// (the elasticity: 1 where the step is nothing else, 0 where it is hidden), else the microseconds of a step one of it.
[[nodiscard]] double cost(SweepScale scale, double less, Nanoseconds step_at_less, double more,
                          Nanoseconds step_at_more);

/// The fastest schedule becomes another one.
struct Overtaking {
  std::size_t overtaken = 0;  ///< a schedule
  std::size_t by = 0;
  /// Between these two values, which are neighbours: by their positions.
  std::size_t from = 0;
  std::size_t to = 0;
  std::optional<double> at;    ///< where their lines cross; none where they do not (one no longer fits into memory)
  std::size_t clear_from = 0;  ///< the first value at which predictions tell them apart (kToldApart)
};

/// In the order of values, as few as there must be: one schedule stays ahead for as long as predictions cannot tell it
/// from the fastest, so that two that are the same within their accuracy do not overtake each other over and over.
/// None where no schedule may be taken.
[[nodiscard]] std::vector<Overtaking> overtakings(const SweepReport& report);

/// The ends of the sweep at which a schedule hardly depends on what is swept.
struct FlatEnds {
  std::optional<std::size_t> up_to;  ///< a value, by its position; the last one: it does so nowhere
  std::optional<std::size_t> from;
};

/// Less than this cost between two values is hardly any.
inline constexpr double kHardlyAny = 0.05;
[[nodiscard]] FlatEnds flat_ends(const SweepReport& report, std::size_t schedule);

/// Of the schedules, without their folders where the rest tells them apart: "sparse_dist".
[[nodiscard]] std::vector<std::string> brief_names(const SweepReport& report);
/// Whether it is the recorded schedule.
[[nodiscard]] bool is_recorded(const SweepReport& report, std::size_t schedule);

}  // namespace interlace::report
