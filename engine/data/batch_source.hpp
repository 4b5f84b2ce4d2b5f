#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/batch.hpp"
#include "engine/runtime/device.hpp"
#include "engine/workload/workload.hpp"

namespace interlace::engine {

/// Where a rank's batches come from, in pinned memory.
class BatchSource {
 public:
  BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;
  BatchSource(BatchSource&&) = delete;
  BatchSource& operator=(BatchSource&&) = delete;
  virtual ~BatchSource() = default;

  /// Batch `number`, counted from 0.
  [[nodiscard]] virtual const Batch& batch(std::int64_t number) = 0;
};

/// Made from the workload's seed: the same on every machine. Lengths are uniform in [0, 2 * pooling], ids in the rows
/// of their table, weights in [0.5, 1.5), dense features in [-1, 1). Made beforehand and used in turn, so that the
/// host's time goes to the training.
class SyntheticBatches : public BatchSource {
 public:
  SyntheticBatches(const Workload& workload, Device& device, int rank);

  [[nodiscard]] const Batch& batch(std::int64_t number) override;

 private:
  std::vector<Batch> batches_;
};

}  // namespace interlace::engine
