#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/embedding/kernels.hpp"
#include "engine/workload/table.hpp"

namespace interlace::engine {

/// A rectangle of a table that one rank holds.
struct Shard {
  std::int32_t table = 0;  ///< in ModuleSpec::tables
  int rank = 0;
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int32_t column_begin = 0;
  std::int32_t columns = 0;
};

/// Which rank holds what of a module's tables, and what follows for what the ranks exchange.
///
/// Every sharding is a set of shards, and everything else is one rule over them: a rank sends, for each shard, the ids
/// that fall into its rows to the rank that holds it, and gets back that shard's part of the pooled columns; parts that
/// fall onto the same columns (of shards with other rows) add up. Table-wise tables go to the ranks in turn; row-wise
/// ones are cut into blocks of ceil(rows / ranks) rows; column-wise ones into columns in multiples of 4 (one vector
/// load), for as many ranks as that gives.
class ShardingPlan {
 public:
  ShardingPlan(const ModuleSpec& module, int ranks);

  /// By rank, then table, then rows and columns.
  [[nodiscard]] std::span<const Shard> shards() const { return shards_; }
  [[nodiscard]] std::span<const Shard> shards_of(int rank) const;
  /// Floats a sample of what a rank looks up.
  [[nodiscard]] std::int64_t width_of(int rank) const;

  /// What a rank's shards look like in its memory, but for their addresses.
  [[nodiscard]] std::vector<LocalShard> local_shards(int rank) const;

  /// What is sent where: a slot a shard, in the order of shards().
  [[nodiscard]] std::vector<InputSlot> slots() const;
  /// Where the pooled columns that come from each shard belong, when the module's columns begin at `first_column`.
  /// Moves onto the same columns stand together, by rank, the one that sets them first.
  [[nodiscard]] std::vector<ColumnMove> moves(std::int32_t first_column) const;

 private:
  std::vector<Shard> shards_;
  std::vector<std::size_t> first_;     ///< by rank, and one behind the last: in shards_
  std::vector<std::int64_t> rows_;     ///< by table
  std::vector<std::int32_t> columns_;  ///< by table: where its columns begin among the module's
};

/// Of one rank's shards of a module, whose name is for messages. Throws engine.too_large beyond kMostRows.
[[nodiscard]] ShardShape shape_of(std::span<const LocalShard> shards, const std::string& module);

}  // namespace interlace::engine
