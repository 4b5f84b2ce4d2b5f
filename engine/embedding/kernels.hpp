#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/runtime/stream.hpp"
#include "engine/workload/table.hpp"
#include "simulator/base/error.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kIdOutOfRange{"engine.id_out_of_range"};
inline constexpr ErrorCode kDamagedInput{"engine.damaged_input"};
inline constexpr ErrorCode kTooLarge{"engine.too_large"};

/// Jagged features: bag n has the ids [offsets[n], offsets[n + 1]).
struct JaggedView {
  std::span<const std::int64_t> offsets;  ///< a bag each, and the end of the last
  std::span<const std::int64_t> ids;
  std::span<const float> weights;  ///< beside the ids; empty where the module has none
};

/// One destination of a feature's ids: those in [row_begin, row_end) go to `rank`, which holds these rows.
struct InputSlot {
  std::int32_t feature = 0;
  std::int32_t rank = 0;
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t table_rows = 0;  ///< ids of the feature are in [0, table_rows)
};

/// What InputCount::report holds behind a count a rank: the feature + 1 of some id that is out of range (0: there is
/// none), and that id.
inline constexpr std::size_t kReportExtra = 2;

/// Bags are numbered feature * batch + sample in `input`, slot * batch + sample in what is sent.
struct InputCount {
  std::span<const InputSlot> slots;
  std::int64_t batch = 0;
  JaggedView input;
  std::span<std::int32_t> lengths;  ///< result: ids a bag
  std::span<std::int64_t> report;   ///< result: ids a rank, then kReportExtra values
};

struct InputSpread {
  std::span<const InputSlot> slots;
  std::int64_t batch = 0;
  JaggedView input;
  std::span<const std::int64_t> offsets;  ///< of the bags that InputCount counted
  std::span<const std::int64_t> shifts;   ///< by rank: how much farther its ids begin than these say
  std::span<std::int64_t> ids;            ///< result: counted from row_begin of their slot
  std::span<float> weights;               ///< result; empty where the input has none
};

/// A shard as its rank holds it.
struct LocalShard {
  float* rows = nullptr;      ///< row_count x columns
  float* momentum = nullptr;  ///< a value a row; null where the optimizer has none
  std::int64_t row_count = 0;
  std::int32_t columns = 0;
  std::int32_t column = 0;     ///< where its columns begin in a looked-up row
  std::int64_t first_row = 0;  ///< rows of the shards before it
};

/// Kernels may number the rows of all shards in 32 bits.
inline constexpr std::int64_t kMostRows = std::int64_t{1} << 32U;

/// What a kernel's launch must know of shards without reading them: they are in device memory.
struct ShardShape {
  std::int64_t rows = 0;       ///< of all shards; at most kMostRows
  std::int32_t widest = 0;     ///< columns of the widest
  bool whole_vectors = false;  ///< all columns, and where they begin, are multiples of 4
};

/// Bags are numbered (source * shards + shard) * batch + sample; looked-up rows source * batch + sample.
struct LookupArguments {
  std::span<const LocalShard> shards;
  std::span<const LocalShard> on_host;  ///< the same in the host's memory; empty where only this engine knows them
  ShardShape shape;
  std::int64_t sources = 1;  ///< ranks whose samples these are
  std::int64_t batch = 0;    ///< samples a source
  JaggedView input;
  std::span<const std::int64_t> places;  ///< by locate(), beside the ids; empty where nothing was located ahead
  std::span<float> looked_up;            ///< result of the lookup; what the update takes as gradients
  std::int64_t width = 0;                ///< floats a row of it
};

struct UpdateArguments {
  LookupArguments lookup;            ///< as it was; looked_up: the gradients of what it gave
  std::span<const std::byte> order;  ///< by sort_rows()
  float scale = 1.0F;                ///< of the gradients
  TableOptimizerSpec optimizer;
};

/// The weights of the places in the bags of a shard's feature, among those of its module.
struct PlaceWeights {
  std::int32_t begin = 0;
  std::int32_t count = 1;  ///< at least 1; behind the last place the last weight counts
};

/// A feature processor of a module: each id is weighed by the place in its bag. Bags as in LookupArguments.
struct PlaceArguments {
  std::span<const PlaceWeights> shards;
  std::int32_t most = 1;  ///< the largest count of a shard
  std::int64_t batch = 0;
  JaggedView input;  ///< with the weights that came with the ids
};
/// Columns of the pooled embeddings of a sample and where they lie in what a rank sent: rank blocks one behind the
/// other, each batch x block_width floats.
struct ColumnMove {
  std::int64_t columns_before = 0;  ///< sum of the widths of the blocks before
  std::int32_t block_width = 0;
  std::int32_t from = 0;  ///< in a row of the block
  std::int32_t to = 0;    ///< in a row of the pooled embeddings
  std::int32_t columns = 0;
  bool add = false;  ///< to what an earlier move brought there

  bool operator==(const ColumnMove&) const = default;
};

struct PooledArguments {
  std::span<const ColumnMove> moves;  ///< one that adds stands behind those onto the same columns
  std::int64_t batch = 0;
  float* blocks = nullptr;
  float* pooled = nullptr;
  std::int64_t stride = 0;  ///< floats from one row of `pooled` to the next
};

struct UniformFill {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;
  float bound = 0.0F;
};

/// The work on jagged features and tables: one implementation a kind of device. All arrays are in device memory, spans
/// in the arguments too. Calls stand inside the Work of a stream.
class EmbeddingKernels {
 public:
  EmbeddingKernels() = default;
  EmbeddingKernels(const EmbeddingKernels&) = delete;
  EmbeddingKernels& operator=(const EmbeddingKernels&) = delete;
  EmbeddingKernels(EmbeddingKernels&&) = delete;
  EmbeddingKernels& operator=(EmbeddingKernels&&) = delete;
  virtual ~EmbeddingKernels() = default;

  /// offsets[n] = lengths[0] + ... + lengths[n - 1], for n up to and with the number of lengths.
  virtual void sum_lengths(NativeStream stream, std::span<const std::int32_t> lengths,
                           std::span<std::int64_t> offsets) const = 0;
  virtual void count(NativeStream stream, const InputCount& arguments) const = 0;
  virtual void spread(NativeStream stream, const InputSpread& arguments) const = 0;
  /// The place of each id's row among the rows of all shards: LocalShard::first_row + id.
  virtual void locate(NativeStream stream, const LookupArguments& arguments, std::span<std::int64_t> places) const = 0;
  /// Sums the rows of each bag, times their weights.
  virtual void lookup(NativeStream stream, const LookupArguments& arguments) const = 0;
  /// Sorts the ids of a lookup by shard and row, ids of one row by their place: what update() needs to know of them.
  /// order: order_bytes() of memory.
  virtual void sort_rows(NativeStream stream, const LookupArguments& arguments, std::span<std::byte> order) const = 0;
  [[nodiscard]] virtual std::size_t order_bytes(const LookupArguments& arguments) const = 0;
  /// The fused backward: for each row that was looked up, sums the gradients of its bags (times weight and scale), and
  /// updates the row in place. Gradients of tables are never stored. Each sum has one order, so that the result is the
  /// same each time.
  virtual void update(NativeStream stream, const UpdateArguments& arguments) const = 0;
  /// The feature processor's forward: the weight of each id times that of its place.
  virtual void weigh(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_places,
                     std::span<float> weights) const = 0;
  /// The gradient of the weight of each id: its row times the gradient of its bag, which looked_up holds. Before the
  /// rows are updated.
  virtual void weight_gradients(NativeStream stream, const LookupArguments& arguments,
                                std::span<float> gradients) const = 0;
  /// The feature processor's backward: adds the gradients of the ids' weights, times the weight that came with each, to
  /// those of the places. Each sum has one order.
  virtual void add_place_gradients(NativeStream stream, const PlaceArguments& arguments, std::span<const float> of_ids,
                                   std::span<float> of_places) const = 0;
  /// From the ranks' blocks into the pooled columns.
  virtual void assemble(NativeStream stream, const PooledArguments& arguments) const = 0;
  /// The way back, for gradients: each block column gets its pooled column.
  virtual void arrange(NativeStream stream, const PooledArguments& arguments) const = 0;
  /// values[row * columns + c] = uniform in [-bound, bound) by counter_hash(seed, first + row * stride + c).
  virtual void fill_uniform(NativeStream stream, std::span<float> values, const UniformFill& fill) const = 0;
  virtual void fill(NativeStream stream, std::span<float> values, float value) const = 0;
  /// values -= rate * gradients.
  virtual void descend(NativeStream stream, std::span<float> values, std::span<const float> gradients,
                       float rate) const = 0;
};

}  // namespace interlace::engine
