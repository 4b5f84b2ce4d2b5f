#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/model.hpp"
#include "engine/pipeline/trainer.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

/// What one rank's training gave.
struct RankResult {
  std::vector<float> losses;  ///< a value a step, the mean over the ranks; empty without a dense model
  std::uint64_t digest = 0;   ///< Model::digest() of this rank
  MemoryPeaks peaks;
  std::vector<Validation> validations;
  double seconds = 0.0;  ///< of the steps, on the host's clock
};

/// Trains on this rank, with the schedule, over workload.steps batches. All ranks of the communicator call it with the
/// same schedule and workload. Device-neutral: `tools` says where it runs.
[[nodiscard]] RankResult train(const schedule::Schedule& schedule, const Workload& workload, const RankTools& tools);

}  // namespace interlace::engine
