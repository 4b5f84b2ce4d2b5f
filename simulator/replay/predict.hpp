#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/replay/predicted_memory.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

struct PredictOptions {
  SimulationOptions simulation;
  std::int32_t shown_steps = 3;  ///< steady steps in the predicted trace
  std::int32_t runs = 4;         ///< simulations, each with a seed and a host of its own
  /// Standard deviation of predicted over measured step times beyond jitter: of the speed-up errors over all sets but
  /// the bimodal one (docs/accuracy.md).
  double model_error = 0.0125;
  /// So many steps follow on each other before the host waits for the device: memory is that of a run of as many, with
  /// its end. None: of one that goes on.
  std::optional<std::int32_t> run_steps;
  memory::MemoryReplayOptions memory;  ///< with a capacity: peaks are those without it, failures those under it
};

/// What one simulation did, for what is told of all of them.
struct PredictedRun {
  struct DeviceWork {
    std::uint32_t rank = 0;
    WorkKind kind = WorkKind::kKernel;
    std::uint32_t label = 0;  ///< of its stage: into PredictedRuns::labels
    Interval time;
  };
  /// A host call that may have waited for the device.
  struct HostCall {
    std::uint32_t rank = 0;
    std::optional<std::uint32_t> label;          ///< of its stage
    std::optional<trace::OperationId> recorded;  ///< none: the host waits as the schedule says, for an event
    Nanoseconds duration = 0;
  };
  std::vector<DeviceWork> works;             ///< in order of start
  std::vector<std::vector<Interval>> steps;  ///< by rank: those that the predicted step time is the mean of
  std::vector<HostCall> calls;               ///< of the iterations that count, on all ranks
  std::int32_t iterations = 0;               ///< so many
};

/// All simulations of a schedule.
struct PredictedRuns {
  std::vector<std::string> labels;  ///< of stages
  std::vector<PredictedRun> runs;
};

/// What a schedule would do.
struct Prediction {
  std::string schedule;
  Nanoseconds step_time = 0;                 ///< mean of single steady steps
  Nanoseconds step_time_low = 0;             ///< 10th percentile
  Nanoseconds step_time_high = 0;            ///< 90th
  std::vector<std::string> races;            ///< kernels that race for SMs, in words
  std::vector<PredictedMemory> memory;       ///< by rank; empty where no memory was recorded
  std::vector<std::string> streams;          ///< of the device, by number, as `memory` names them
  trace::Trace trace;                        ///< a few steady steps, and what runs of later ones meanwhile
  std::vector<std::vector<Interval>> steps;  ///< by rank: the step windows in `trace`
  PredictedRuns simulated;
};

/// Predicts schedules from one recording. The trace and the cut must outlive it.
class Predictor {
 public:
  Predictor(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics);
  /// From the sites of that cut, edited or not.
  Predictor(const trace::Trace& trace, const stages::Cut& cut, SiteTable sites);

  /// Predicts memory, too, from the recorded allocator events and the schedule that they were recorded under. False
  /// where there are none. Counts as memory::recorded_memory does.
  bool learn_memory(const schedule::Schedule& recorded, Diagnostics& diagnostics);

  /// Throws Error(replay.stage_not_recorded), and Error(replay.too_many_steps) where the simulated works would take
  /// more than half of the machine's memory. Same input and seed give the same result. Requires at least one step of
  /// warm-up, and as many behind it as are shown.
  [[nodiscard]] Prediction predict(const schedule::Schedule& schedule, const PredictOptions& options) const;

  /// Prediction::step_time alone, in less time and memory; what `predict` says of errors holds here, too.
  [[nodiscard]] Nanoseconds step_time(const schedule::Schedule& schedule, const PredictOptions& options) const;

  /// Only the simulations of which that is made; what `predict` says of errors holds here, too.
  [[nodiscard]] PredictedRuns simulate_runs(const schedule::Schedule& schedule, const PredictOptions& options) const;

  /// So many predictions may be made at the same time: as half of the machine's memory holds, at least one. All of this
  /// is safe to call from several threads, and predicts the same.
  [[nodiscard]] std::size_t fit_at_once(const PredictOptions& options) const;

  [[nodiscard]] const SiteTable& sites() const { return sites_; }

 private:
  const trace::Trace* trace_;
  const stages::Cut* cut_;
  SiteTable sites_;
  std::optional<schedule::Schedule> recorded_;
  std::vector<memory::RecordedMemory> memory_;  ///< by rank
};

inline constexpr ErrorCode kTooManySteps{"replay.too_many_steps"};

inline constexpr DiagnosticKind kContentionOff{
    "replay.contention_off", Severity::kWarning,
    "works that run side by side were not slowed by each other, as asked for",
    "leave --no-contention out for a prediction"};

}  // namespace interlace::replay
