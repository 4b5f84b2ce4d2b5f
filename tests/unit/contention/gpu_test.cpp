#include "simulator/contention/gpu.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace interlace::contention {
namespace {

constexpr std::int32_t kSms = 132;

ActiveWork kernel(std::int64_t blocks, std::int32_t per_sm, Bound bound, double alone, std::int32_t priority = 0) {
  ActiveWork w;
  w.shape = {.bound = bound, .blocks = blocks, .blocks_per_sm = per_sm, .sm_count = kSms};
  w.alone_ns = w.remaining_ns = alone;
  w.priority = priority;
  w.in_cohorts = runs_in_cohorts(w.shape);
  if (w.in_cohorts) w.pending_blocks = blocks;
  return w;
}

ActiveWork collective(std::int32_t ctas) {
  ActiveWork w;
  w.kind = ActiveWork::Kind::kCollective;
  w.ctas = ctas;
  return w;
}

TEST(Admission, AnEqualKernelWaitsUntilAllBlocksBeforeItAreDispatched) {
  ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kMemory, 400.0);  // four waves
  const ActiveWork second = kernel(10, 8, Bound::kMemory, 5.0);
  const std::vector<const ActiveWork*> running{&first};
  EXPECT_FALSE(admits(running, second, kSms));
  EXPECT_DOUBLE_EQ(first.until_dispatched_ns(), 300.0);  // three of four waves
  first.remaining_ns = 100.0;
  EXPECT_TRUE(admits(running, second, kSms));
}

TEST(Admission, AMoreUrgentKernelEntersAtOnce) {
  const ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kMemory, 400.0);
  const std::vector<const ActiveWork*> running{&first};
  EXPECT_TRUE(admits(running, kernel(10, 8, Bound::kMemory, 5.0, -1), kSms));
}

TEST(Admission, ACollectiveNeedsAllItsSms) {
  ActiveWork gemm = kernel(256, 2, Bound::kCompute, 4000.0);
  const std::vector<ActiveWork*> running{&gemm};
  dispatch_cohorts(gemm, running, kSms, 0.0);  // 256 blocks on 128 SMs
  const std::vector<const ActiveWork*> company{&gemm};
  EXPECT_FALSE(admits(company, collective(32), kSms));
  EXPECT_TRUE(admits({}, collective(32), kSms));
}

TEST(Cohorts, ASingleWaveRunsTwiceWhereACollectiveHoldsSms) {
  ActiveWork nccl = collective(32);
  ActiveWork gemm = kernel(256, 2, Bound::kCompute, 4000.0);
  const std::vector<ActiveWork*> running{&nccl, &gemm};
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms, 0.0));
  ASSERT_EQ(gemm.cohorts.size(), 1U);
  EXPECT_EQ(gemm.cohorts[0].blocks, 200);  // (132 - 32) * 2
  EXPECT_EQ(gemm.pending_blocks, 56);
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms, 4000.0));
  EXPECT_EQ(gemm.pending_blocks, 0);
  EXPECT_DOUBLE_EQ(gemm.cohorts[0].end_ns, 8000.0);
}

TEST(Sharing, ACollectiveSlowsMemoryBoundKernelsByItsChannels) {
  ActiveWork nccl = collective(32);
  ActiveWork copy = kernel(100'000, 8, Bound::kMemory, 100.0);
  const std::vector<ActiveWork*> running{&nccl, &copy};
  share(running, kSms);
  EXPECT_NEAR(copy.rate, 1.0 / 1.22, 1e-9);
}

TEST(Sharing, AKernelAloneRunsAtFullRate) {
  ActiveWork urgent = kernel(100, 8, Bound::kMemory, 100.0, -1);
  const std::vector<ActiveWork*> running{&urgent};
  share(running, kSms);
  EXPECT_DOUBLE_EQ(urgent.rate, 1.0);
}

}  // namespace
}  // namespace interlace::contention
