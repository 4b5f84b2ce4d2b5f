#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "engine/job/job_store.hpp"
#include "engine/job/watch.hpp"
#include "engine/launch/train.hpp"
#include "engine/launch/world.hpp"
#include "engine/runtime/progress.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/base/error.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

struct GpuOptions {
  std::optional<WorldPlace> world;  ///< none: this process is the only rank
  TrainOptions training;
  /// Called by each rank when it has met the others, before it uses its GPU, to begin to record: with the store of the
  /// job, where this rank stands, and the options to train with. Empty: nothing is recorded.
  std::function<void(JobStore&, Progress&, TrainOptions&)> start_recording;
  std::chrono::milliseconds stall_limit{25'000};
  OnFailure on_failure;
};

/// Throws engine.no_gpu where this machine has fewer GPUs, or this engine no GPU backend.
void require_gpus(int count);

/// Trains as one rank, on the GPU of its local rank. Returns the results of all ranks on rank 0, none on the others.
/// Failures of the job go through options.on_failure; those before it has begun are thrown: engine.no_gpu, and
/// engine.world_size where it is not said how ranks find each other.
[[nodiscard]] std::optional<std::vector<RankResult>> run_on_gpus(const schedule::Schedule& schedule,
                                                                 const Workload& workload, const GpuOptions& options);

}  // namespace interlace::engine
