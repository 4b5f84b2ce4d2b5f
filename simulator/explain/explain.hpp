#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/explain/matching.hpp"
#include "simulator/explain/run.hpp"

namespace interlace::explain {

/// Why one run's step is longer than the other's.
enum class Cause : std::uint8_t {
  kDurations,    ///< a work on the critical path takes another time
  kWaits,        ///< the path goes through work of another stream or rank that is waited for
  kHost,         ///< the host launches later or sooner: its own work, launch latency, or its being blocked
  kOrder,        ///< other work stands in front on the same stream
  kStart,        ///< from the end of what a work waited for to its start: events, free SMs
  kUnexplained,  ///< nothing recorded says what the time was spent on
};
inline constexpr std::size_t kCauses = 6;
[[nodiscard]] std::string_view to_string(Cause cause);

/// One part of the difference of the step times.
struct Part {
  Cause cause = Cause::kDurations;
  std::string stage;          ///< that comes later or sooner for it; "" outside all stages
  std::string of_stage;       ///< whose work it is: what is waited for, what stands in front; else as `stage`
  std::string operation;      ///< the work (the longest of several); "" for the host
  Nanoseconds effect_ns = 0;  ///< a step; > 0: the predicted step is longer for it

  bool operator==(const Part&) const = default;
};

/// Where the difference between a measured and a predicted run of the same schedule comes from. All times are a step,
/// mean over ranks and steps.
struct Explanation {
  Nanoseconds measured_step_ns = 0;
  Nanoseconds predicted_step_ns = 0;
  std::size_t measured_steps = 0;  ///< that are compared; of the rank that has most
  std::size_t predicted_steps = 0;
  std::size_t all_measured_steps = 0;  ///< more where some stalled (Run::all_steps)
  std::size_t all_predicted_steps = 0;
  /// Largest effect first, either way. Their sum is predicted_step_ns - measured_step_ns, to the nanosecond.
  std::vector<Part> parts;
  Matching matching;

  [[nodiscard]] Nanoseconds difference_ns() const { return predicted_step_ns - measured_step_ns; }
  /// The sum of the parts with this cause.
  [[nodiscard]] Nanoseconds of(Cause cause) const;
};

/// Walks the critical path of every step of both runs, lays each measured one beside each predicted one by the works
/// they have in common, and attributes what differs:
/// - a work on both paths that takes longer: durations (kHost for the host, kStart for the time before a work);
/// - where the paths part and meet again, the difference of the two ways: first to works of the longer way that take
///   longer than in the other run (durations), the rest to what that way has most more of: time of the host, work that
///   is waited for across streams or ranks (kWaits), work in front on the same stream (kOrder), gaps (kStart).
///
/// A collective counts on the path from the last arrival of a rank; waiting for peers is what the path goes through on
/// the late rank, where the trace has it. Ranks are joined by number; those that one trace lacks are left out. Throws
/// Error(explain.no_common_rank). Counts what Graph counts of each.
[[nodiscard]] Explanation explain(const Run& measured, const Run& predicted, Diagnostics& of_measured,
                                  Diagnostics& of_predicted);

inline constexpr ErrorCode kNoCommonRank{"explain.no_common_rank"};

}  // namespace interlace::explain
