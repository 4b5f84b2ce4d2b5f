#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/replay/machine.hpp"
#include "simulator/replay/program.hpp"

namespace interlace::replay {

inline constexpr ErrorCode kStuck{"replay.stuck"};
inline constexpr ErrorCode kNothingToTime{"replay.nothing_to_time"};

struct SimulationOptions {
  std::int32_t iterations = 30;  ///< after those that fill the pipeline
  /// Of the run, no more than the iterations: its end is simulated, too, where no further batch keeps the host waiting.
  /// Steps as the pipeline drains are not steady. None: the run goes on.
  std::optional<std::int32_t> batches;
  std::int32_t warm_up = 6;  ///< iterations until the full pipeline is steady; not counted
  std::uint64_t seed = 1;
  std::optional<double> host_scale;  ///< host time as a part of the recorded; none: as the table says
  bool as_recorded = false;          ///< hosts as slow as under the recorder, and as disturbed
  bool jitter = true;  ///< draw host times and durations from their spread; false: no draws, kernels win races
  MachineOptions machine;
};

/// A simulated time as traces and results have it.
[[nodiscard]] inline Nanoseconds rounded(double ns) { return std::llround(ns); }

/// The same options, with what the table tells of machine and host.
[[nodiscard]] SimulationOptions on_recorded_machine(SimulationOptions options, const SiteTable& table);

/// What a simulated host did, for the predicted trace.
struct HostCall {
  std::optional<trace::OperationId> recorded;  ///< none where an edit invented it
  std::uint32_t rank = 0;
  std::int32_t iteration = 0;
  double start_ns = 0;
  double end_ns = 0;
  stages::SegmentKey segment;
  std::int32_t batch = 0;            ///< absolute
  StreamIndex stream;                ///< that its segment runs on
  std::optional<std::size_t> range;  ///< of the result, that the host was in
};

/// An event that the host recorded, and what it made wait for it.
struct EventWait {
  std::uint32_t rank = 0;
  std::int32_t recorded_in = 0;  ///< iteration
  std::int32_t waited_in = 0;
  StreamIndex source;  ///< the event stands behind all that was queued on it by then
  double recorded_ns = 0;
  std::optional<StreamIndex> waiter;  ///< none: the host itself
  double waited_ns = 0;
  double resumed_ns = 0;             ///< when the call returned: later than it began where the host waits
  std::optional<std::size_t> range;  ///< of the result, that the host was in
};

struct HostRange {
  std::uint32_t rank = 0;
  std::uint32_t label = 0;
  std::int32_t iteration = 0;
  std::int32_t batch = 0;
  double start_ns = 0;
  double end_ns = 0;
};

/// Iterations count from minus the schedule's depth, those that fill the pipeline.
struct SimulationResult {
  std::vector<Work> works;
  std::vector<WorkId> in_order_of_start;  ///< all of them
  std::vector<HostCall> calls;
  std::vector<HostRange> ranges;
  std::vector<EventWait> waits;  ///< all but those inside recorded calls, in the order in which they were made
  std::vector<std::vector<double>> iteration_ends;  ///< by rank: when each iteration's step was over, from iteration 0
  std::vector<double> steps_ns;                     ///< single steady steps of all ranks
};

/// Runs a plan for a number of iterations, behind those that fill its pipeline: a stage runs from the first batch on.
/// Iterations draw their host times from the recorded ones in a seeded random
/// order, all ranks alike, so that what was correlated stays so.
/// Throws Error(replay.collectives_differ) where no recorded iteration can be replayed, and Error(replay.stuck) where
/// the run does not come to its end.
[[nodiscard]] SimulationResult simulate(const Plan& plan, const SiteTable& table, const SimulationOptions& options);

}  // namespace interlace::replay
