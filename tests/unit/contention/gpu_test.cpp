#include "simulator/contention/gpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
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

/// One whose CTAs have all found their SMs.
ActiveWork placed_collective(std::int32_t ctas) {
  ActiveWork w = collective(ctas);
  w.resident_ctas = ctas;
  return w;
}

TEST(Admission, AnEqualKernelWaitsUntilAllBlocksBeforeItAreDispatched) {
  ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0);  // four waves
  const ActiveWork second = kernel(10, 8, Bound::kStreaming, 5.0);
  const std::vector<ActiveWork*> running{&first};
  EXPECT_FALSE(admits(running, second, kSms));
  EXPECT_DOUBLE_EQ(first.until_dispatched_ns(), 300.0);  // three of four waves
  first.remaining_ns = 100.0;
  EXPECT_TRUE(admits(running, second, kSms));
}

// Of eight blocks on each SM that end at any time of the last round, the last one has on (1 - left)^8 of the SMs.
TEST(Admission, ACollectiveEntersAsTheLastBlocksOfAKernelLeaveSms) {
  ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0);  // four rounds of 100
  const std::vector<ActiveWork*> running{&first};
  first.remaining_ns = 35.0;
  EXPECT_FALSE(admits(running, collective(32), kSms)) << "4.2 SMs are free";
  first.remaining_ns = 25.0;
  EXPECT_TRUE(admits(running, collective(32), kSms)) << "13.2 are";

  ActiveWork one_round = kernel(132 * 8, 8, Bound::kStreaming, 400.0);
  one_round.remaining_ns = 4.0;
  EXPECT_FALSE(admits(std::vector<ActiveWork*>{&one_round}, collective(32), kSms)) << "its blocks end together";
}

TEST(Admission, SmsComeFreeInSixteenSteps) {
  ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0);
  const double first_step = 100.0 * (1.0 - std::pow(1.0 / 16.0, 1.0 / 8.0));
  EXPECT_NEAR(first.until_emptier_ns(), 400.0 - first_step, 1e-9);
  int steps = 0;
  for (; first.remaining_ns > 1e-9; ++steps) first.remaining_ns -= first.until_emptier_ns();
  EXPECT_EQ(steps, 16);

  ActiveWork one_round = kernel(132 * 8, 8, Bound::kStreaming, 400.0);
  EXPECT_DOUBLE_EQ(one_round.until_emptier_ns(), 400.0);
}

// docs/benchmarks/placement, 14.
TEST(Admission, AKernelWaitsForSmsThatAreDividedForItsSharedMemory) {
  ActiveWork fill = kernel(320, 4, Bound::kStreaming, 60.0);  // all its blocks run
  fill.shape.shared_kib = 4;
  const std::vector<ActiveWork*> running{&fill};
  ActiveWork scan = kernel(153, 4, Bound::kStreaming, 6.0);
  scan.shape.shared_kib = 88;
  EXPECT_FALSE(admits(running, scan, kSms));
  scan.priority = -1;
  EXPECT_FALSE(admits(running, scan, kSms)) << "blocks that run are not put off";
  scan.shape.shared_kib = 32;
  EXPECT_TRUE(admits(running, scan, kSms));

  ActiveWork half = kernel(66, 4, Bound::kStreaming, 60.0);
  scan.shape.shared_kib = 88;
  EXPECT_TRUE(admits(std::vector<ActiveWork*>{&half}, scan, kSms)) << "on the SMs that are empty";

  ActiveWork lookup = kernel(132 * 4 * 16, 4, Bound::kGather, 1600.0);  // rounds of 100
  const std::vector<ActiveWork*> beside{&lookup};
  lookup.remaining_ns = 90.0;
  EXPECT_FALSE(admits(beside, scan, kSms)) << "0.01 SMs are empty";
  lookup.remaining_ns = 60.0;
  EXPECT_TRUE(admits(beside, scan, kSms)) << "3.4 are";
}

TEST(Admission, AMoreUrgentKernelEntersAtOnce) {
  ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0);
  const std::vector<ActiveWork*> running{&first};
  EXPECT_TRUE(admits(running, kernel(10, 8, Bound::kStreaming, 5.0, -1), kSms));
}

TEST(Admission, ACollectiveNeedsRoomForACluster) {
  ActiveWork gemm = kernel(256, 2, Bound::kCompute, 4000.0);
  const std::vector<ActiveWork*> running{&gemm};
  dispatch_cohorts(gemm, running, kSms);  // 256 blocks on all SMs
  const std::vector<ActiveWork*> company{&gemm};
  EXPECT_FALSE(admits(company, collective(4), kSms));
  EXPECT_TRUE(admits({}, collective(32), kSms));
  ActiveWork longer = kernel(512, 2, Bound::kCompute, 4000.0);
  const std::vector<ActiveWork*> other{&longer};
  dispatch_cohorts(longer, other, kSms);
  longer.cohorts[0].remaining_ns = 0;
  dispatch_cohorts(longer, other, kSms);  // the last 248 blocks on 124 SMs: eight are free
  EXPECT_TRUE(admits(other, collective(32), kSms));
}

TEST(Clusters, ArePlacedOneAfterTheOtherAndStay) {
  ActiveWork nccl = collective(32);
  const std::vector<ActiveWork*> alone{&nccl};
  EXPECT_TRUE(settle_ctas(nccl, alone, kSms, 0.0));
  EXPECT_DOUBLE_EQ(nccl.resident_ctas, 4.0);
  EXPECT_TRUE(settle_ctas(nccl, alone, kSms, 2'000.0));
  EXPECT_DOUBLE_EQ(nccl.resident_ctas, 12.0);
  EXPECT_FALSE(nccl.lacks_room) << "for the rest, which is on its way";
  // A matrix multiplication takes the rest; those that are placed stay.
  ActiveWork gemm = kernel(2400, 2, Bound::kCompute, 9000.0);
  ActiveWork* both[] = {&nccl, &gemm};
  ASSERT_FALSE(gemm.in_cohorts);
  settle_ctas(nccl, both, kSms, 9'000.0);
  EXPECT_DOUBLE_EQ(nccl.resident_ctas, 12.0);
  EXPECT_TRUE(nccl.lacks_room);
}

TEST(Cohorts, ASingleWaveRunsTwiceWhereACollectiveHoldsSms) {
  ActiveWork nccl = placed_collective(32);
  ActiveWork gemm = kernel(256, 2, Bound::kCompute, 4000.0);
  const std::vector<ActiveWork*> running{&nccl, &gemm};
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms));
  ASSERT_EQ(gemm.cohorts.size(), 1U);
  EXPECT_EQ(gemm.cohorts[0].blocks, 200);  // (132 - 32) * 2
  EXPECT_EQ(gemm.pending_blocks, 56);
  gemm.cohorts[0].remaining_ns = 0;
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms));
  EXPECT_EQ(gemm.pending_blocks, 0);
  EXPECT_NEAR(gemm.cohorts[0].remaining_ns, 4000.0, 1e-6);
}

// As measured: a matrix multiplication of 128 blocks, two of which fit on an SM, took 1019 us by itself and 1936 us
// where a collective of 32 CTAs stood on its SMs when it began, however soon that left.
TEST(Cohorts, BlocksThatHaveToShareSmsShareTheirPace) {
  ActiveWork nccl = placed_collective(32);
  ActiveWork gemm = kernel(128, 2, Bound::kCompute, 1000.0);
  const std::vector<ActiveWork*> running{&nccl, &gemm};
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms));
  EXPECT_EQ(gemm.pending_blocks, 0);
  EXPECT_NEAR(gemm.cohorts[0].remaining_ns, 2000.0, 1e-6);
}

// 1056 blocks, four on an SM: two rounds. A single CTA keeps four of them for a third, in which they have the memory to
// themselves: of a block's 4 ms only the 0.8 are left that it needs in any case.
TEST(Cohorts, BlocksThatFollowIndicesAreQuickWhereFewRun) {
  constexpr double kBlock = 4e6;
  const KernelShape update{.bound = Bound::kGather, .blocks = 1056, .blocks_per_sm = 4, .sm_count = kSms};
  EXPECT_DOUBLE_EQ(update.pace(528, kBlock, 0), 1.0);
  EXPECT_NEAR(update.pace(4, kBlock, 0), 5.0, 0.2);
  EXPECT_DOUBLE_EQ(update.pace(264, kBlock, 0), 1.0 / 0.6);
  EXPECT_DOUBLE_EQ(update.pace(528, kBlock, 32), 1.0 / 1.1);
  EXPECT_DOUBLE_EQ(update.pace(4, 0.5e6, 0), 1.0) << "short ones need all of their time";
  const double alone = cohort_time(update, kBlock, {});
  const std::vector<HeldSms> one{{-1.0, 1e9, 1}};
  EXPECT_NEAR(cohort_time(update, kBlock, one) - alone, 0.85e6, 0.2e6);
  EXPECT_NEAR(block_time(update, alone), kBlock, 1.0);
  EXPECT_NEAR(freed_of_collectives(update, {}, cohort_time(update, kBlock, one), one), alone, 1e-4 * alone);
}

// One round beside which 32 CTAs stand for its second half only: those cost it a tenth of that half's pace.
TEST(Cohorts, ACollectiveThatComesInTheMiddleOfARoundSlowsItFromThere) {
  const KernelShape lookup{.bound = Bound::kGather, .blocks = 60, .blocks_per_sm = 2, .sm_count = 132};
  const double block = 1e6;
  const double alone = cohort_time(lookup, block, {});
  const std::vector<HeldSms> late{{.begin_ns = alone / 2, .end_ns = 1e9, .ctas = 32}};
  EXPECT_NEAR(cohort_time(lookup, block, late), alone * (0.5 + 0.5 * 1.1), 1e-3 * alone);
}

TEST(Cohorts, ThePaceOfBlocksFollowsHowManyRun) {
  ActiveWork update = kernel(1056, 4, Bound::kGather, 8e6);
  const std::vector<ActiveWork*> running{&update};
  ASSERT_TRUE(dispatch_cohorts(update, running, kSms));
  share(running, kSms);
  EXPECT_DOUBLE_EQ(update.rate, 1.0);
  update.pending_blocks = 0;
  update.cohorts.resize(4);  // half of the round is left
  share(running, kSms);
  EXPECT_GT(update.rate, 1.5);
}

// Two rounds of 528 blocks: the second starts in eight parts, in the places of the first one's, and so ends.
TEST(Cohorts, ARoundOfBlocksThatFollowIndicesEndsALittleAtATime) {
  ActiveWork update = kernel(1056, 4, Bound::kGather, 2000.0);
  const std::vector<ActiveWork*> running{&update};
  ASSERT_TRUE(dispatch_cohorts(update, running, kSms));
  ASSERT_EQ(update.cohorts.size(), 8U);
  double now = 0;
  std::vector<double> ends;
  while (!update.cohorts.empty()) {
    const double next = std::ranges::min_element(update.cohorts, {}, &ActiveWork::Cohort::remaining_ns)->remaining_ns;
    for (ActiveWork::Cohort& cohort : update.cohorts) cohort.remaining_ns -= next;
    now += next;
    ends.push_back(now);
    dispatch_cohorts(update, running, kSms);
  }
  EXPECT_NEAR(now, 2000.0, 1e-6) << "by itself it takes as long as it took";
  ASSERT_EQ(ends.size(), 16U);
  const double mean_block = 2000.0 / (2.0 + kRoundSpread);
  EXPECT_NEAR(ends[0], (1.0 - kRoundSpread) * mean_block, 1e-6);
  EXPECT_NEAR(ends[7], (1.0 + kRoundSpread) * mean_block, 1e-6);
  EXPECT_NEAR(ends[8], ends[0] + mean_block, 1e-6);
}

// 128 blocks, two of which fit on an SM, lie one on an SM each: the collective finds four SMs, not 68.
TEST(Cohorts, BlocksThatLieThinlyKeepEverySmFromACollective) {
  ActiveWork gemm = kernel(128, 2, Bound::kCompute, 1000.0);
  const std::vector<ActiveWork*> running{&gemm};
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms));
  EXPECT_DOUBLE_EQ(gemm.sms_used(), 64.0);
  EXPECT_DOUBLE_EQ(gemm.sms_touched(), 128.0);
  EXPECT_FALSE(admits(running, collective(32), kSms));
}

TEST(Drift, IsWhereBlocksLeaveSmsThatOthersTakeInBetween) {
  ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0);
  ActiveWork second = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0);
  ActiveWork gemm = kernel(256, 2, Bound::kCompute, 4000.0);
  ActiveWork other_gemm = kernel(256, 2, Bound::kCompute, 4000.0);
  ActiveWork placed = placed_collective(32);
  ActiveWork lacking = collective(32);
  using Running = std::vector<ActiveWork*>;
  ASSERT_TRUE(gemm.in_cohorts && !first.in_cohorts);
  EXPECT_FALSE(drifts(Running{})) << "nothing runs";
  EXPECT_FALSE(drifts(Running{&first, &placed})) << "nobody takes what its blocks leave";
  EXPECT_FALSE(drifts(Running{&gemm, &other_gemm})) << "cohorts end at times of their own";
  EXPECT_TRUE(drifts(Running{&first, &second}));
  EXPECT_TRUE(drifts(Running{&gemm, &second}));
  EXPECT_TRUE(drifts(Running{&gemm, &lacking})) << "CTAs wait for SMs";
}

TEST(Sharing, ACollectiveSlowsMemoryBoundKernelsByItsChannelsOnceItMovesData) {
  ActiveWork nccl = placed_collective(32);
  ActiveWork copy = kernel(100'000, 8, Bound::kStreaming, 100.0);
  const std::vector<ActiveWork*> running{&nccl, &copy};
  share(running, kSms);
  EXPECT_NEAR(copy.rate, 1.0 / 1.11, 1e-9);
  nccl.moving = true;
  share(running, kSms);
  EXPECT_NEAR(copy.rate, 1.0 / 1.27, 1e-9);
}

ActiveWork device_copy(double alone) {
  ActiveWork w;
  w.kind = ActiveWork::Kind::kCopy;
  w.on_device = true;
  w.alone_ns = w.remaining_ns = alone;
  return w;
}

TEST(Sharing, ADeviceCopyAndAKernelThatUsesUpMemoryGetHalfOfItEach) {
  ActiveWork copy = device_copy(100'000.0);
  ActiveWork stream = kernel(100'000, 8, Bound::kStreaming, 400'000.0);
  ActiveWork in_cache = kernel(100'000, 8, Bound::kStreaming, 5'000.0);
  share(std::vector<ActiveWork*>{&copy, &stream}, kSms);
  EXPECT_DOUBLE_EQ(copy.rate, 0.5);
  EXPECT_DOUBLE_EQ(stream.rate, 0.5);
  share(std::vector<ActiveWork*>{&copy, &in_cache}, kSms);
  EXPECT_DOUBLE_EQ(copy.rate, 1.0);
  EXPECT_DOUBLE_EQ(in_cache.rate, 1.0);
  copy.on_device = false;  // over PCIe
  share(std::vector<ActiveWork*>{&copy, &stream}, kSms);
  EXPECT_DOUBLE_EQ(copy.rate, 1.0);
  EXPECT_DOUBLE_EQ(stream.rate, 1.0);
}

TEST(Sharing, ADeviceCopyGoesAtThePaceOfTheSmsThatMultiplicationsLeave) {
  ActiveWork copy = device_copy(48'000.0);
  ActiveWork gemm = kernel(256, 2, Bound::kCompute, 4e6);
  const std::vector<ActiveWork*> running{&gemm, &copy};
  dispatch_cohorts(gemm, running, kSms);  // on 128 SMs
  share(running, kSms);
  EXPECT_NEAR(copy.rate, 4.0 / 33.0, 1e-9);
  EXPECT_DOUBLE_EQ(gemm.rate, 1.0);
  copy.alone_ns = 1'000.0;
  share(running, kSms);
  EXPECT_DOUBLE_EQ(copy.rate, 1.0) << "a brief one finds what it needs";
}

// A matrix multiplication of 1.9 rounds in its second one leaves 8 of 132 SMs.
TEST(Sharing, WhatComesLaterRunsOnTheSmsThatAreLeft) {
  ActiveWork gemm = kernel(512, 2, Bound::kCompute, 2500.0);
  ActiveWork later = kernel(15'360, 8, Bound::kGather, 1100.0);
  ActiveWork little = kernel(32, 8, Bound::kStreaming, 10.0);
  const std::vector<ActiveWork*> running{&gemm, &later, &little};
  dispatch_cohorts(gemm, running, kSms);
  gemm.cohorts[0].remaining_ns = 0;
  dispatch_cohorts(gemm, running, kSms);
  ASSERT_EQ(gemm.pending_blocks, 0);
  share(running, kSms);
  EXPECT_DOUBLE_EQ(gemm.rate, 1.0);
  EXPECT_DOUBLE_EQ(later.rate, 8.0 / kSms);
  const std::vector<ActiveWork*> little_later{&gemm, &little};
  share(little_later, kSms);
  EXPECT_DOUBLE_EQ(little.rate, 1.0) << "four SMs are enough for it";

  const std::vector<ActiveWork*> little_first{&little, &gemm, &later};
  share(little_first, kSms);
  EXPECT_DOUBLE_EQ(little.rate, 1.0) << "what was there first keeps its SMs";
  const std::vector<ActiveWork*> later_first{&later, &gemm};
  share(later_first, kSms);
  EXPECT_DOUBLE_EQ(later.rate, 1.0);

  gemm.cohorts.clear();
  share(running, kSms);
  EXPECT_DOUBLE_EQ(later.rate, 1.0);
}

TEST(Sharing, BlocksOfALastRoundKeepTheirSmsUntilTheyRetire) {
  ActiveWork first = kernel(4 * 8 * kSms, 8, Bound::kStreaming, 400.0);  // four rounds of 100
  ActiveWork second = kernel(4 * 8 * kSms, 8, Bound::kStreaming, 400.0);
  const std::vector<ActiveWork*> running{&first, &second};
  for (const auto& [left, rate] : {std::pair{100.0, 0.03}, {75.0, 0.25}, {25.0, 0.75}}) {
    first.remaining_ns = left;
    share(running, kSms);
    EXPECT_DOUBLE_EQ(first.rate, 1.0) << left;
    EXPECT_NEAR(second.rate, rate, 1e-9) << left;
  }
  const std::vector<ActiveWork*> other_way{&second, &first};
  share(other_way, kSms);
  EXPECT_DOUBLE_EQ(second.rate, 1.0) << "what was there first keeps its SMs";
}

TEST(Sharing, AnUrgentKernelTakesNoSmsOfBlocksThatRun) {
  ActiveWork first = kernel(4 * 8 * kSms, 8, Bound::kStreaming, 400.0);  // four rounds of 100
  ActiveWork urgent = kernel(64 * 8 * kSms, 8, Bound::kStreaming, 400.0, -1);
  const std::vector<ActiveWork*> running{&first, &urgent};
  share(running, kSms);
  EXPECT_DOUBLE_EQ(first.rate, 0.2) << "its next blocks wait";
  EXPECT_DOUBLE_EQ(urgent.rate, 0.8);
  first.remaining_ns = 50.0;
  share(running, kSms);
  EXPECT_DOUBLE_EQ(first.rate, 1.0) << "none of its blocks waits";
  EXPECT_DOUBLE_EQ(urgent.rate, 0.5) << "half of the last ones have retired";
}

// A kernel of two rounds, the second of which leaves 8 of 132 SMs.
TEST(Sharing, AnUrgentKernelHasTheSmsThatBlocksOfOthersLeaveIt) {
  ActiveWork gemm = kernel(256, 1, Bound::kCompute, 2600.0);
  ActiveWork urgent = kernel(30'720, 2, Bound::kGather, 340.0, -1);
  const std::vector<ActiveWork*> running{&gemm, &urgent};
  dispatch_cohorts(gemm, {running.data(), 1}, kSms);
  share(running, kSms);
  EXPECT_EQ(urgent.rate, 0.0) << "none before the round ends";
  gemm.cohorts[0].remaining_ns = 0;
  dispatch_cohorts(gemm, {running.data(), 1}, kSms);
  share(running, kSms);
  EXPECT_DOUBLE_EQ(urgent.rate, 8.0 / kSms);
}

TEST(Cohorts, AMoreUrgentKernelTakesTheSmsOfBlocksThatRetire) {
  ActiveWork gemm = kernel(256, 1, Bound::kCompute, 2600.0);
  ActiveWork urgent = kernel(30'720, 2, Bound::kGather, 340.0, -1);
  const std::vector<ActiveWork*> running{&gemm, &urgent};
  ASSERT_TRUE(dispatch_cohorts(gemm, {running.data(), 1}, kSms));
  gemm.cohorts[0].remaining_ns = 0;
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms)) << "a round has ended";
  EXPECT_EQ(gemm.blocks_in_flight(), 0);
  share(running, kSms);
  EXPECT_DOUBLE_EQ(urgent.rate, 1.0);

  urgent.remaining_ns = urgent.alone_ns / urgent.shape.waves() / 2;  // half of its last round has retired
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms));
  EXPECT_EQ(gemm.blocks_in_flight(), 66);
  EXPECT_EQ(gemm.pending_blocks, 58);

  ActiveWork equal = kernel(30'720, 2, Bound::kGather, 340.0);
  gemm.cohorts.clear();
  ASSERT_TRUE(dispatch_cohorts(gemm, std::vector<ActiveWork*>{&gemm, &equal}, kSms));
  EXPECT_EQ(gemm.pending_blocks, 0) << "one of its own priority came later";
}

TEST(Cohorts, WaitForTheSmsThatTheLastRoundOfAnEarlierKernelLeaves) {
  ActiveWork first = kernel(4 * 8 * kSms, 8, Bound::kStreaming, 400.0);  // four rounds of 100
  ActiveWork gemm = kernel(kSms, 1, Bound::kCompute, 1000.0);
  const std::vector<ActiveWork*> running{&first, &gemm};
  first.remaining_ns = 100.0;
  EXPECT_FALSE(dispatch_cohorts(gemm, running, kSms)) << "none of the last blocks has retired";
  first.remaining_ns = 50.0;
  EXPECT_TRUE(last_blocks_matter(running));
  ASSERT_TRUE(dispatch_cohorts(gemm, running, kSms));
  EXPECT_EQ(gemm.pending_blocks, kSms / 2);

  ActiveWork urgent = kernel(kSms, 1, Bound::kCompute, 1000.0, -1);
  ASSERT_TRUE(dispatch_cohorts(urgent, std::vector<ActiveWork*>{&first, &urgent}, kSms));
  EXPECT_EQ(urgent.pending_blocks, kSms / 2) << "blocks that run keep their SMs, whoever comes";
  first.remaining_ns = 350.0;
  urgent = kernel(kSms, 1, Bound::kCompute, 1000.0, -1);
  ASSERT_TRUE(dispatch_cohorts(urgent, std::vector<ActiveWork*>{&first, &urgent}, kSms));
  EXPECT_EQ(urgent.pending_blocks, 0) << "blocks retire in the midst of a kernel as well";

  ActiveWork fits = kernel(kSms, 1, Bound::kCompute, 1000.0);
  ASSERT_TRUE(dispatch_cohorts(fits, std::vector<ActiveWork*>{&fits, &first}, kSms));
  EXPECT_EQ(fits.pending_blocks, 0) << "what came first does not wait";
  EXPECT_FALSE(last_blocks_matter(std::vector<ActiveWork*>{&first, &fits}));
}

TEST(Cohorts, AMoreUrgentCopyTakesTheSmsOfBlocksThatRetire) {
  ActiveWork gemm = kernel(132 * 3, 1, Bound::kCompute, 3000.0);
  ASSERT_TRUE(dispatch_cohorts(gemm, std::vector<ActiveWork*>{&gemm}, kSms));
  ASSERT_EQ(gemm.blocks_in_flight(), 132);
  ActiveWork copy;
  copy.kind = ActiveWork::Kind::kCopy;
  copy.on_device = true;
  copy.alone_ns = copy.remaining_ns = 100'000.0;
  const std::vector<ActiveWork*> running{&gemm, &copy};
  const auto blocks_of_next_round = [&](std::int32_t priority) {
    copy.priority = priority;
    ActiveWork next = gemm;
    next.cohorts[0].remaining_ns = 0;
    EXPECT_TRUE(dispatch_cohorts(next, std::vector<ActiveWork*>{&next, &copy}, kSms));
    return next.blocks_in_flight();
  };
  share(running, kSms);
  EXPECT_LT(copy.rate, 0.05) << "no block has retired";
  EXPECT_EQ(blocks_of_next_round(0), 132);
  EXPECT_EQ(blocks_of_next_round(-1), 99) << "a quarter of the GPU is enough for its pace";

  ActiveWork next = gemm;
  next.cohorts[0].remaining_ns = 0;
  ActiveWork second_copy = copy;
  ASSERT_TRUE(dispatch_cohorts(next, std::vector<ActiveWork*>{&next, &copy, &second_copy}, kSms));
  EXPECT_EQ(next.blocks_in_flight(), 99) << "two copies share what one takes";
  ActiveWork gather = kernel(132 * 3, 1, Bound::kGather, 3000.0);
  ASSERT_TRUE(dispatch_cohorts(gather, std::vector<ActiveWork*>{&gather, &copy}, kSms));
  EXPECT_EQ(gather.blocks_in_flight(), 132) << "its blocks hold no copy up";
}

TEST(Sharing, EqualsShareAlikeHoweverUrgentAllAre) {
  const auto rates = [](std::int32_t priority) {
    ActiveWork first = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0, priority);
    first.remaining_ns = 50.0;  // half of its last round has retired
    ActiveWork second = kernel(132 * 8 * 4, 8, Bound::kStreaming, 400.0, priority);
    share(std::vector<ActiveWork*>{&first, &second}, kSms);
    return std::pair(first.rate, second.rate);
  };
  EXPECT_EQ(rates(0), std::pair(1.0, 0.5));
  EXPECT_EQ(rates(-1), rates(0));
}

TEST(Sharing, AKernelAloneRunsAtFullRate) {
  ActiveWork urgent = kernel(100, 8, Bound::kStreaming, 100.0, -1);
  const std::vector<ActiveWork*> running{&urgent};
  share(running, kSms);
  EXPECT_DOUBLE_EQ(urgent.rate, 1.0);
}

TEST(Admission, ASmallGpuTakesACollectiveToo) {
  EXPECT_TRUE(admits({}, collective(2), 6));
  ActiveWork first = kernel(6, 1, Bound::kStreaming, 400.0);
  const std::vector<ActiveWork*> running{&first};
  dispatch_cohorts(first, running, 6);
  EXPECT_FALSE(admits(running, collective(2), 6));
}

}  // namespace
}  // namespace interlace::contention
