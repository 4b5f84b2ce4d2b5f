#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/workload/workload.hpp"

namespace interlace::engine {

/// The features of a module for one rank's samples, bag by bag.
struct PlainFeatures {
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  std::vector<float> weights;
};

struct PlainBatch {
  std::vector<float> dense;
  std::vector<float> labels;
  std::vector<PlainFeatures> modules;
  std::optional<PlainFeatures> data_parallel;
};

/// batches[step][rank], as the engine's ranks get them.
using PlainBatches = std::vector<std::vector<PlainBatch>>;
[[nodiscard]] PlainBatches plain_batches(const Workload& workload);

/// Trains the workload as a textbook would: in double, whole tables, one sample after the other, no streams, no
/// LibTorch and nothing of the engine but its shapes, data and initial values. staleness: batch k reads the tables that
/// the updates of batches up to k - 1 - staleness have made. Returns the mean loss of all ranks, a value a step.
[[nodiscard]] std::vector<double> reference_losses(const Workload& workload, int staleness);

}  // namespace interlace::engine
