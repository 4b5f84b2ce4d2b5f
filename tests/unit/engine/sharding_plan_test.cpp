#include "engine/embedding/sharding_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/cpu/device.hpp"
#include "engine/cpu/embedding_kernels.hpp"
#include "engine/embedding/sharded_module.hpp"

namespace interlace::engine {
namespace {

const ModuleSpec kMixed{.name = "mixed",
                        .weighted = false,
                        .tables = {{.rows = 10, .dim = 4, .pooling = 1, .sharding = Sharding::kTableWise},
                                   {.rows = 10, .dim = 8, .pooling = 1, .sharding = Sharding::kRowWise},
                                   {.rows = 1, .dim = 4, .pooling = 1, .sharding = Sharding::kRowWise},
                                   {.rows = 6, .dim = 12, .pooling = 1, .sharding = Sharding::kColumnWise},
                                   {.rows = 10, .dim = 4, .pooling = 1, .sharding = Sharding::kTableWise}}};

// Whatever the sharding, each cell of each table is on exactly one rank.
TEST(ShardingPlan, CoversEveryCellOnce) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    std::map<std::tuple<int, std::int64_t, int>, int> holders;
    const ShardingPlan plan(kMixed, ranks);
    for (const Shard& shard : plan.shards()) {
      ASSERT_LT(shard.rank, ranks);
      for (std::int64_t row = shard.row_begin; row < shard.row_end; ++row) {
        for (int c = shard.column_begin; c < shard.column_begin + shard.columns; ++c) ++holders[{shard.table, row, c}];
      }
    }
    std::size_t cells = 0;
    for (const TableSpec& table : kMixed.tables) cells += static_cast<std::size_t>(table.rows * table.dim);
    EXPECT_EQ(holders.size(), cells) << ranks;
    for (const auto& [cell, count] : holders) EXPECT_EQ(count, 1);
  }
}

TEST(ShardingPlan, PlacesTablesRowsAndColumns) {
  const ShardingPlan plan(kMixed, 4);
  std::set<std::tuple<int, int, std::int64_t, std::int64_t, int, int>> shards;
  for (const Shard& s : plan.shards()) {
    shards.insert({s.table, s.rank, s.row_begin, s.row_end, s.column_begin, s.columns});
  }
  const std::set<std::tuple<int, int, std::int64_t, std::int64_t, int, int>> expected = {
      {0, 0, 0, 10, 0, 4},                                                               // in turn: rank 0
      {1, 0, 0, 3, 0, 8},  {1, 1, 3, 6, 0, 8}, {1, 2, 6, 9, 0, 8}, {1, 3, 9, 10, 0, 8},  // blocks of ceil(10 / 4) = 3
      {2, 0, 0, 1, 0, 4},                                                                // one row
      {3, 0, 0, 6, 0, 4},  {3, 1, 0, 6, 4, 4}, {3, 2, 0, 6, 8, 4},                       // 3 vectors for 3 ranks
      {4, 1, 0, 10, 0, 4},                                                               // in turn: rank 1
  };
  EXPECT_EQ(shards, expected);
  EXPECT_EQ(plan.width_of(0), 4 + 8 + 4 + 4);
  EXPECT_EQ(plan.width_of(3), 8);
}

TEST(ShardingPlan, MovesAddOnlyWhereEarlierRowsWereSet) {
  const ShardingPlan plan(kMixed, 2);
  std::map<std::int32_t, int> set;
  for (const ColumnMove& move : plan.moves(5)) {
    for (std::int32_t c = 0; c < move.columns; ++c) {
      const std::int32_t column = move.to + c;
      if (move.add) {
        EXPECT_EQ(set[column], 1) << column;
      } else {
        ++set[column];
      }
    }
  }
  // Columns 5 to 5 + 4 + 8 + 4 + 12 + 4 are each set once.
  EXPECT_EQ(set.size(), 32U);
  EXPECT_EQ(set.begin()->first, 5);
  for (const auto& [column, count] : set) EXPECT_EQ(count, 1) << column;
}

// 2^29 rows are two GiB of floats a column: nothing of that size is made.
TEST(ShardingPlan, RefusesMoreRowsThanKernelsNumber) {
  const TableSpec table{.rows = std::int64_t{1} << 29, .dim = 4, .pooling = 1, .sharding = Sharding::kTableWise};
  const ModuleSpec eight{.name = "wide", .weighted = false, .tables = std::vector<TableSpec>(8, table)};
  EXPECT_EQ(shape_of(ShardingPlan(eight, 1).local_shards(0), "wide").rows, std::int64_t{1} << 32);
  ModuleSpec more = eight;
  more.tables.push_back({.rows = 1, .dim = 4, .pooling = 1, .sharding = Sharding::kTableWise});
  EXPECT_EQ(shape_of(ShardingPlan(more, 2).local_shards(0), "wide").rows, (std::int64_t{1} << 31) + 1);
  try {
    cpu::CpuCluster cluster(1, {});
    cluster.run([&](int rank) {
      cpu::CpuDevice device(cluster, rank);
      const ShardedModule made(more, rank, 1, {}, device, cpu::CpuEmbeddingKernels(), device.make_stream("main", 0));
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "engine.too_large");
    EXPECT_EQ(error.place(), "rank 0, module \"wide\"");
    EXPECT_NE(error.problem().find("4294967297 rows"), std::string::npos) << error.problem();
  }
}

}  // namespace
}  // namespace interlace::engine
