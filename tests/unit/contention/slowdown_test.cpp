#include "simulator/contention/slowdown.hpp"

#include <gtest/gtest.h>

namespace interlace::contention {
namespace {

constexpr KernelShape gemm(std::int64_t blocks, std::int32_t per_sm) {
  return {.bound = Bound::kCompute, .blocks = blocks, .blocks_per_sm = per_sm, .sm_count = 132};
}

TEST(Slowdown, ComputeFollowsTheRoundsOfBlocks) {
  // 256 blocks of occupancy 2: one round on 132 SMs (264 slots), two on 100 (200 slots).
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(256, 2), 32), 2.0);
  // 512 blocks: 2 rounds alone, 3 rounds on 100 SMs.
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(512, 2), 32), 1.5);
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(256, 2), 4), 1.0);
}

TEST(Slowdown, MemoryGrowsWithTheChannels) {
  EXPECT_DOUBLE_EQ(memory_slowdown(0), 1.0);
  EXPECT_DOUBLE_EQ(memory_slowdown(1), 1.0);
  EXPECT_NEAR(memory_slowdown(4), 1.03, 0.005);
  EXPECT_NEAR(memory_slowdown(32), 1.22, 0.005);
}

TEST(Freed, UndoesWhatSlowdownDoes) {
  const KernelShape copy{.bound = Bound::kMemory, .blocks = 10'000, .blocks_per_sm = 8, .sm_count = 132};
  EXPECT_NEAR(freed_of_collectives(copy, 122.0, 122.0, 32), 100.0, 1e-9);
  EXPECT_NEAR(freed_of_collectives(copy, 100.0, 0.0, 0), 100.0, 1e-9);
  // Half of the measured time in company: 61 / 1.22 + 61.
  EXPECT_NEAR(freed_of_collectives(copy, 122.0, 61.0, 32), 50.0 + 61.0, 1e-9);
}

TEST(Freed, ASingleRoundWaitedAtMostForItself) {
  // All 200 ns beside a collective: the second round began when the first ended.
  EXPECT_DOUBLE_EQ(freed_of_collectives(gemm(256, 2), 200.0, 200.0, 32), 100.0);
  // The collective left after 30 ns: the rest started then.
  EXPECT_DOUBLE_EQ(freed_of_collectives(gemm(256, 2), 130.0, 30.0, 32), 100.0);
  // It fits beside four CTAs: nothing waited.
  EXPECT_DOUBLE_EQ(freed_of_collectives(gemm(256, 2), 100.0, 100.0, 4), 100.0);
}

}  // namespace
}  // namespace interlace::contention
