#include "simulator/contention/slowdown.hpp"

#include <gtest/gtest.h>

#include <vector>

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

TEST(Slowdown, ManyRoundsMakeNoFullUseOfTheSmsLeft) {
  // 3072 blocks fit in 24 rounds on 128 SMs as on 132; beside 4 CTAs they take 25, and by themselves 24.
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(3072, 1), 4), 25.0 / 24.0);
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(3072, 1), 0), 1.0);
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(3072, 1), 2), 1.0);  // no cluster
  EXPECT_DOUBLE_EQ(compute_slowdown(gemm(3072, 1), 32), 31.0 / 24.0);
}

TEST(Slowdown, MemoryGrowsWithTheChannels) {
  EXPECT_DOUBLE_EQ(memory_slowdown(kStreamingSensitivity, {}), 1.0);
  EXPECT_DOUBLE_EQ(memory_slowdown(kStreamingSensitivity, {.moving = 1}), 1.0);
  EXPECT_NEAR(memory_slowdown(kStreamingSensitivity, {.moving = 4}), 1.03, 0.005);
  EXPECT_NEAR(memory_slowdown(kStreamingSensitivity, {.moving = 32}), 1.27, 0.005);
  EXPECT_NEAR(memory_slowdown(kGatherSensitivity, {.moving = 32}), 1.45, 0.005);
}

TEST(Slowdown, CollectivesThatWaitTakeSmsOnly) {
  constexpr Sensitivity kSensitivity{.waiting = 0.1, .moving = 0.3};
  EXPECT_DOUBLE_EQ(memory_slowdown(kSensitivity, {.waiting = 32}), 1.1);
  EXPECT_DOUBLE_EQ(memory_slowdown(kSensitivity, {.moving = 32}), 1.3);
  EXPECT_DOUBLE_EQ(memory_slowdown(kSensitivity, {.waiting = 8, .moving = 16}), 1.175);
  // 48 CTAs use up what there is to use; of 64 each counts for three quarters.
  EXPECT_DOUBLE_EQ(memory_slowdown(kSensitivity, {.waiting = 32, .moving = 32}), 1.3);
  EXPECT_DOUBLE_EQ(slowdown(gemm(256, 2), kSensitivity, {.waiting = 32}), 2.0);
}

TEST(Slowdown, OnlyKernelsThatUseUpMemoryHoldACollectiveUp) {
  constexpr LostToMemory kLost{.streaming = 0.4, .gather = 0.1};
  EXPECT_DOUBLE_EQ(lost_beside(kLost, Bound::kStreaming, 100'000), 0.4);
  EXPECT_DOUBLE_EQ(lost_beside(kLost, Bound::kStreaming, 5'000), 0.0);  // its data stay in the L2 cache
  EXPECT_DOUBLE_EQ(lost_beside(kLost, Bound::kGather, 5'000), 0.1);
  EXPECT_DOUBLE_EQ(lost_beside(kLost, Bound::kCompute, 100'000), 0.0);
}

TEST(Cohorts, ACollectiveThatLeavesEarlyCostsOnlyItsTime) {
  EXPECT_EQ(block_time(gemm(512, 2), 0.0), 0.0);
  // 512 blocks of occupancy 2 on 132 SMs: 264 at 0, 248 at 100, done at 200.
  EXPECT_DOUBLE_EQ(cohort_time(gemm(512, 2), 100.0, {}), 200.0);
  // 32 SMs are held until 30: 200 start at 0, 64 at 30, 200 at 100, the last 48 at 130, done at 230.
  const std::vector<HeldSms> held{{-50.0, 30.0, 32}};
  EXPECT_DOUBLE_EQ(cohort_time(gemm(512, 2), 100.0, held), 230.0);
  // Held all the time: 200 + 200 + 112, three rounds.
  const std::vector<HeldSms> throughout{{-50.0, 1e6, 32}};
  EXPECT_DOUBLE_EQ(cohort_time(gemm(512, 2), 100.0, throughout), 300.0);
}

TEST(Cohorts, ManyRoundsMakeNoFullUseOfTheSmsLeft) {
  // 768 blocks, six rounds on 132 SMs. A collective that leaves within the second costs nothing: 123 start at 0 and
  // 100, 9 at 150, 123 at 200 and so on, 9 at 450; 768 have started at 500. One that stays costs a round.
  const std::vector<HeldSms> early{{-50.0, 150.0, 4}};
  EXPECT_DOUBLE_EQ(cohort_time(gemm(768, 1), 100.0, early), 600.0);
  const std::vector<HeldSms> throughout{{-50.0, 1e6, 4}};
  EXPECT_DOUBLE_EQ(cohort_time(gemm(768, 1), 100.0, throughout), 700.0);
  // 512 blocks, four rounds on 128 SMs.
  EXPECT_DOUBLE_EQ(cohort_time(gemm(512, 1), 100.0, throughout), 400.0);
}

TEST(Freed, UndoesWhatSlowdownDoes) {
  constexpr Sensitivity kSensitivity{.waiting = 0.1, .moving = 0.22};
  const KernelShape copy{.bound = Bound::kStreaming, .blocks = 100'000, .blocks_per_sm = 8, .sm_count = 132};
  const std::vector<HeldSms> all{{-1.0, 1e6, 32}};
  EXPECT_NEAR(freed_of_collectives(copy, kSensitivity, 122.0, all), 100.0, 1e-9);
  EXPECT_NEAR(freed_of_collectives(copy, kSensitivity, 100.0, {}), 100.0, 1e-9);
  // Half of the measured time in company: 61 / 1.22 + 61.
  const std::vector<HeldSms> half{{0.0, 61.0, 32}};
  EXPECT_NEAR(freed_of_collectives(copy, kSensitivity, 122.0, half), 50.0 + 61.0, 1e-9);
  // Half beside one that waits, half beside the same one as it moves data.
  const std::vector<HeldSms> both{{-9.0, 55.0, 32, false}, {55.0, 200.0, 32, true}};
  EXPECT_NEAR(freed_of_collectives(copy, kSensitivity, 116.0, both), 100.0, 1e-9);
}

// Of two process groups: together they take what one of twice the CTAs takes.
TEST(Freed, CollectivesBesideEachOtherCountTogether) {
  constexpr Sensitivity kSensitivity{.waiting = 0.1, .moving = 0.22};
  const KernelShape copy{.bound = Bound::kStreaming, .blocks = 100'000, .blocks_per_sm = 8, .sm_count = 132};
  const std::vector<HeldSms> two{{-1.0, 1e6, 16}, {-1.0, 1e6, 16}};
  EXPECT_NEAR(freed_of_collectives(copy, kSensitivity, 122.0, two), 100.0, 1e-9);
  const std::vector<HeldSms> apart{{0.0, 60.0, 16}, {30.0, 90.0, 16, false}};
  const std::vector<Company> company = company_of(100.0, apart);
  ASSERT_EQ(company.size(), 3U);
  EXPECT_DOUBLE_EQ(company[1].length_ns, 30.0);
  EXPECT_DOUBLE_EQ(company[1].ctas.moving, 16.0);
  EXPECT_DOUBLE_EQ(company[1].ctas.waiting, 16.0);
  EXPECT_DOUBLE_EQ(company[2].ctas.moving, 0.0);
}

TEST(Freed, InvertsCohorts) {
  const std::vector<HeldSms> held{{-50.0, 717.0, 32}};
  const double measured = cohort_time(gemm(512, 2), 1257.0, held);
  EXPECT_NEAR(freed_of_collectives(gemm(512, 2), {}, measured, held), 2 * 1257.0, 0.1);
}

TEST(Observed, TheSensitivityThatTwoRecordingsShow) {
  // 100 ns alone; 130 ns of which 90 beside 32 CTAs: 60 ns of work took 90, 1.5 times as long.
  EXPECT_NEAR(observed_sensitivity(100.0, 130.0, 90.0, 32), 0.5, 1e-9);
  EXPECT_EQ(observed_sensitivity(100.0, 100.0, 50.0, 1), 0.0);
}

// Of a damaged recording: a block ends sooner than the clock can tell.
TEST(Slowdown, TimesBeyondAllReasonEnd) {
  const std::vector<HeldSms> held{{1e18, 1e18 + 1e3, 32, true}};
  EXPECT_GT(cohort_time(gemm(512, 2), 1e18, held), 1e18);
}

}  // namespace
}  // namespace interlace::contention
