#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/embedding/kernels.hpp"
#include "engine/embedding/sharding_plan.hpp"
#include "engine/runtime/device.hpp"
#include "engine/workload/table.hpp"

namespace interlace::engine {

/// How the tables of a module are made.
struct TableSetup {
  std::uint64_t seed = 0;  ///< module_seed(): the cells of a table start the same however it is sharded
  TableOptimizer optimizer = TableOptimizer::kSgd;
  std::int32_t first_column = 0;  ///< of the module's pooled embeddings among those of the model
};

/// One rank's part of a sharded module: its shards of the tables, with the state of their optimizer, and what the
/// kernels need to know of the sharding, in device memory.
class ShardedModule {
 public:
  /// Queues the making of the tables on `stream`. Throws as shape_of() does.
  ShardedModule(const ModuleSpec& spec, int rank, int ranks, const TableSetup& setup, Device& device,
                const EmbeddingKernels& kernels, StreamId stream);

  [[nodiscard]] const std::string& name() const { return spec_.name; }
  [[nodiscard]] const ModuleSpec& spec() const { return spec_; }
  [[nodiscard]] const ShardingPlan& plan() const { return plan_; }
  [[nodiscard]] std::span<const InputSlot> slots() const { return slots_.span(); }
  [[nodiscard]] std::span<const ColumnMove> moves() const { return moves_.span(); }
  [[nodiscard]] std::span<const LocalShard> shards() const { return local_.span(); }
  [[nodiscard]] std::span<const LocalShard> shards_on_host() const { return local_on_host_; }
  [[nodiscard]] const ShardShape& shape() const { return shape_; }

  /// A number that two sets of tables share only if all rows and optimizer states are equal, bit by bit, but for odds
  /// of 2^-64. The sum over the ranks, modulo 2^64, is that of the whole module. Waits for the device.
  [[nodiscard]] std::uint64_t digest(Device& device, StreamId stream) const;

 private:
  void make_tables(const TableSetup& setup, Device& device, const EmbeddingKernels& kernels, StreamId stream);

  ModuleSpec spec_;
  int rank_;
  ShardingPlan plan_;
  Buffer<float> rows_;
  Buffer<float> momentum_;
  Buffer<InputSlot> slots_;
  Buffer<ColumnMove> moves_;
  std::vector<LocalShard> local_on_host_;
  Buffer<LocalShard> local_;
  ShardShape shape_;
};

}  // namespace interlace::engine
