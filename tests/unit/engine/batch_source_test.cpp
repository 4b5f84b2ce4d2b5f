#include "engine/data/batch_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/cpu/device.hpp"
#include "engine/data/uniform_below.hpp"

namespace interlace::engine {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

TEST(UniformBelow, ReachesFromNoughtToTheLast) {
  for (const std::uint64_t end : {1ULL, 3ULL, 1ULL << 32U, (1ULL << 32U) + 1, 1ULL << 40U}) {
    EXPECT_EQ(uniform_below(0, end), 0U);
    EXPECT_EQ(uniform_below(kAll, end), end - 1);
    EXPECT_EQ(uniform_below(kAll / 2, end), (end - 1) / 2);
  }
}

// Recorded samples hang on these: upper 32 bits times the end, over 2^32.
TEST(UniformBelow, DrawsOfSmallTablesAreWhatTheyWere) {
  EXPECT_EQ(uniform_below(0x8000'0000'ffff'ffffU, 10), 5U);
  EXPECT_EQ(uniform_below(0x7fff'ffff'ffff'ffffU, 10), 4U);
  EXPECT_EQ(uniform_below(0x1234'5678'ffff'ffffU, 1ULL << 32U), 0x1234'5678U);
}

TEST(SyntheticBatches, ReachAllRowsOfATableOfMoreThan32Bits) {
  constexpr std::int64_t kRows = std::int64_t{3} << 38U;
  Workload workload;
  workload.steps = 1;
  workload.distinct_batches = 1;
  workload.batch = 64;
  workload.modules = {
      {.name = "m", .weighted = false, .tables = {{.rows = kRows, .dim = 1, .pooling = 20, .sharding = {}}}}};
  cpu::CpuCluster cluster(1, {.seed = 1});
  cluster.run([&](int rank) {
    cpu::CpuDevice device(cluster, rank);
    SyntheticBatches batches(workload, device, rank);
    const std::span<const std::int64_t> ids = batches.batch(0).modules.at(0).ids.span();
    ASSERT_GT(ids.size(), 500U);
    const auto [least, most] = std::ranges::minmax(ids);
    EXPECT_GE(least, 0);
    EXPECT_LT(least, kRows / 50);
    EXPECT_GT(most, kRows - kRows / 50);
    EXPECT_LT(most, kRows);
  });
}

}  // namespace
}  // namespace interlace::engine
