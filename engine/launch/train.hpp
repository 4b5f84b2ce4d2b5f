#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "engine/pipeline/model.hpp"
#include "engine/pipeline/trainer.hpp"
#include "engine/runtime/profile.hpp"
#include "engine/workload/workload.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

/// What one rank's training gave.
struct RankResult {
  std::vector<float> losses;  ///< a value a step, the mean over the ranks; empty without a dense model
  std::uint64_t digest = 0;   ///< Model::digest() of this rank; 0 where none was wanted
  MemoryPeaks peaks;
  std::vector<Validation> validations;
  double seconds = 0.0;  ///< of the timed steps; with what fills the pipeline where none go first, and drains it, last
  std::vector<double>
      step_seconds;  ///< of each step, warm-up too, on the main stream: from its start to the next one's
  std::vector<ProfileLine> profile;  ///< of the timed steps; empty where none was asked for
};

/// Whose kernels look tables up and update them.
enum class EmbeddingKind : std::uint8_t { kOwn, kFbgemm };

struct TrainOptions {
  EmbeddingKind embedding = EmbeddingKind::kOwn;
  std::int64_t warmup = 0;  ///< of the workload's steps, so many go first and are not timed; the pipeline stays filled
  std::int64_t reference = 0;  ///< so many follow on those, for before_timed
  std::int64_t cooldown = 0;   ///< so many go last and are not timed: the pipeline does not drain in those that are
  bool digest = true;          ///< take it at the end, which reads all tables
  bool profile = false;
  /// Called when the device is through with what came before, with the time of a reference step in seconds (0 where
  /// there are none): the mean but for a tenth of them at either end, as single steps grow memory. May be empty.
  std::function<void(double)> before_timed;
  std::function<void()> after_timed;           ///< the same, when it is through with the timed steps; may be empty
  std::function<void(std::int64_t)> on_batch;  ///< called by rank 0's host with each batch it turns to; may be empty
  /// Told why the training fails, while all that it holds still lives; need not return. May be empty.
  std::function<void(const std::exception_ptr&)> on_failure;
};

/// Trains on this rank, with the schedule, over workload.steps batches. All ranks of the communicator call it with the
/// same schedule and workload. Device-neutral: `tools` says where it runs.
[[nodiscard]] RankResult train(const schedule::Schedule& schedule, const Workload& workload, const RankTools& tools,
                               const TrainOptions& options = {});

}  // namespace interlace::engine
