#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// What stages read and write. Of a resource with `per_batch` there is one for each batch, made anew by its writers;
/// the others live as long as the training and have versions.
enum class Resource : std::uint8_t {
  kHostBatch,           ///< what the data loader handed over
  kBatch,               ///< the same on the GPU: jagged features, dense features, labels
  kSplits,              ///< permuted jagged features, and the sizes to be exchanged, on their way
  kInputExchange,       ///< lengths, values, weights on their way
  kKjt,                 ///< the jagged features of this rank's tables
  kCacheRows,           ///< the rows of the batch, brought into the embedding cache
  kTables,              ///< sharded embedding tables and their optimizer state
  kLookedUp,            ///< pooled embeddings of this rank's tables, for all ranks' samples
  kOutputExchange,      ///< these on their way to the ranks of the samples
  kPooled,              ///< pooled embeddings of this rank's samples
  kDataParallelPooled,  ///< the same, of the tables that every rank holds whole
  kActivations,         ///< what dense_forward leaves: activations, predictions, loss
  kPooledGradients,     ///< gradients of the pooled embeddings
  kDenseParameters,     ///< dense arches, data-parallel tables, feature processors, and their optimizer state
  kDenseGradients,
};
inline constexpr std::size_t kResources = 15;

struct ResourceTraits {
  std::string_view name;  ///< as messages and docs/schedule_language.md write it, e.g. "kjt"
  bool per_batch = false;
  bool per_module = false;    ///< one for each sharded module
  bool must_be_read = false;  ///< work in flight: a schedule that makes it and never reads it is refused
};
[[nodiscard]] const ResourceTraits& traits_of(Resource resource);
/// The resource that "reads", "writes" and "frees" mean by a name; none: a name of the schedule's own.
[[nodiscard]] std::optional<Resource> resource_named(std::string_view name);

struct Read {
  Resource resource = Resource::kHostBatch;
  /// Per batch only: some step must make it. Else it is read only where a step makes it (a model without sharded
  /// tables has no pooled embeddings).
  bool required = false;
  /// Reader and writers of the resource lock what they touch, row by row, so that their order needs no wait.
  bool locked = false;
};

/// Whether the host waits for the GPU inside a stage.
enum class HostBlock : std::uint8_t {
  kNever,
  kStream,  ///< until all queued on the step's stream is done, because the host reads a small result
  kByMode,  ///< validate_output: see ValidateMode
};

/// What a stage does, apart from how long it takes. `reads` are read before `writes` are written.
struct StageEffects {
  std::span<const Read> reads;
  std::span<const Resource> writes;
  HostBlock host = HostBlock::kNever;
  bool on_device = true;           ///< queues GPU work; false: host work only
  bool issues_collective = false;  ///< takes its turn in the communicator's order, which must agree on all ranks
};

/// `part` matters for kBackward only; none: the whole of it.
[[nodiscard]] const StageEffects& effects_of(Stage stage, std::optional<Part> part = std::nullopt);

/// The effects of its stage and the resources that the step itself names, each once. What it names must be made.
[[nodiscard]] std::vector<Read> reads_of(const StageStep& step);
[[nodiscard]] std::vector<Resource> writes_of(const StageStep& step);

/// Whether a step does the same for one sharded module after another, or for the one that it names: the stages of the
/// embeddings, and that part of backward.
[[nodiscard]] bool goes_module_by_module(const StageStep& step);

/// Whether `module` of a step of this stage is a name of the user's own, and not that of a sharded module.
[[nodiscard]] bool names_its_own(Stage stage);

/// The streams on which backward updates the tables of `module` (none: of all modules): autograd runs a backward
/// operation on the stream of its forward, so these are the streams of the lookups, whatever stream the backward step
/// names. Real streams (same_as followed), without repeats, in the order of the steps.
[[nodiscard]] std::vector<StreamIndex> table_update_streams(const Schedule& schedule,
                                                            const std::optional<std::string>& module = std::nullopt);

/// How many iterations fill the pipeline before the first whole one: the farthest batch that a step names.
[[nodiscard]] std::int32_t depth(const Schedule& schedule);

/// Whether a stage step does something in an iteration of a run over `batches` batches. Iterations count from
/// -depth() (the prologue) to batches - 1 (its last depth() are the drain).
[[nodiscard]] constexpr bool runs(const StageStep& step, std::int64_t iteration, std::int64_t batches) {
  const std::int64_t batch = iteration + step.batch;
  return batch >= 0 && batch < batches;
}

}  // namespace interlace::schedule
