#include <gtest/gtest.h>

#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/compare.hpp"
#include "simulator/analysis/host_blocking.hpp"
#include "simulator/analysis/overlap.hpp"
#include "simulator/analysis/stage_overlap.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "tests/unit/analysis/job.hpp"

namespace interlace::analysis {
namespace {

std::vector<StepWindow> one_step(Nanoseconds length) { return {{.span = {0, length}, .steps = 1}}; }

//  lookup 4     [10,40) on side
//  optimizer 3  [20,30) on main, dense_forward 4 [30,60) on main
TEST(StageOverlap, FindsPairsWithTheirBatches) {
  Job job;
  job.annotate("embedding_lookup 4", 0, 2);
  job.annotate("optimizer_step 3", 2, 4);
  job.annotate("dense_forward 4", 4, 6);
  job.kernel(job.side, 1, 10, 40);
  job.kernel(job.main, 3, 20, 30);
  job.kernel(job.main, 5, 30, 60);
  const trace::Trace trace = job.build();
  const StageOverlap result = stage_overlap(trace, Annotations(trace), one_step(100));

  const std::vector<StageTime> stages{
      {"dense_forward", 30, 10}, {"embedding_lookup", 30, 20}, {"optimizer_step", 10, 10}};
  EXPECT_EQ(result.stages, stages);
  const std::vector<StagePair> pairs{{"dense_forward", "embedding_lookup", 0, 10},
                                     {"embedding_lookup", "optimizer_step", 1, 10}};
  EXPECT_EQ(result.pairs, pairs);
}

TEST(StageOverlap, WorkBackToBackDoesNotOverlapAndOneStageCountsOnce) {
  Job job;
  job.annotate("a 1", 0, 10);
  job.annotate("b 1", 10, 20);
  job.kernel(job.main, 1, 30, 50);
  job.kernel(job.side, 2, 40, 60);   // also a: union [30,60)
  job.kernel(job.main, 11, 60, 70);  // b begins where a ends
  const trace::Trace trace = job.build();
  const StageOverlap result = stage_overlap(trace, Annotations(trace), one_step(100));
  const std::vector<StageTime> stages{{"a", 30, 0}, {"b", 10, 0}};
  EXPECT_EQ(result.stages, stages);
  EXPECT_TRUE(result.pairs.empty());
}

TEST(StageOverlap, LeavesHostCopiesOut) {
  Job job;
  job.annotate("copy_batch_to_gpu 2", 0, 10);
  job.annotate("backward 1", 10, 20);
  job.copy(job.copies, {1, 2}, {30, 60}, trace::MemorySpace::kPinned, trace::MemorySpace::kDevice);
  job.kernel(job.main, 11, 30, 60);
  const trace::Trace trace = job.build();
  const StageOverlap result = stage_overlap(trace, Annotations(trace), one_step(100));
  EXPECT_EQ(result.stages, (std::vector<StageTime>{{"backward", 30, 0}}));
  EXPECT_TRUE(result.pairs.empty());
}

TEST(StageOverlap, OneStageOfTwoBatchesMayOverlapItself) {
  Job job;
  job.annotate("a 1", 0, 10);
  job.annotate("a 3", 10, 20);
  job.kernel(job.main, 1, 30, 50);
  job.kernel(job.side, 11, 40, 60);
  const trace::Trace trace = job.build();
  const std::vector<StagePair> pairs{{"a", "a", 2, 10}};
  EXPECT_EQ(stage_overlap(trace, Annotations(trace), one_step(100)).pairs, pairs);
}

std::vector<std::string> texts(const std::vector<Reason>& reasons) {
  std::vector<std::string> all;
  for (const Reason& reason : reasons) all.push_back(reason.text);
  return all;
}

StepAnalysis quiet_step() {
  StepAnalysis step;
  step.overlap.mean = {.step_ns = 40 * kMillisecond, .compute_ns = 30 * kMillisecond};
  return step;
}

TEST(Compare, NamesExposedCommunicationWithItsSign) {
  const StepAnalysis before = quiet_step();
  StepAnalysis now = before;
  now.overlap.mean.exposed_communication_ns = 2'100'000;
  now.overlap.mean.communication_ns = 2'100'000;
  const auto worse = compare(before, now);
  ASSERT_EQ(worse.size(), 2U);
  EXPECT_EQ(worse[0], (Reason{"exposes 2.1 ms more communication", 2'100'000}));
  EXPECT_EQ(worse[1].text, "collectives run 2.1 ms longer, waiting for peers included");
  EXPECT_EQ(compare(now, before)[0], (Reason{"exposes 2.1 ms less communication", -2'100'000}));
}

TEST(Compare, LeavesOutWhatDoesNotMatterAndSortsTheRest) {
  const StepAnalysis before = quiet_step();  // threshold: 0.3 % of 40 ms = 120 us
  StepAnalysis now = before;
  now.overlap.mean.idle_ns = 119'999;
  EXPECT_TRUE(compare(before, now).empty());
  now.overlap.mean.idle_ns = 120'000;
  now.overlap.mean.compute_ns -= 2 * kMillisecond;
  EXPECT_EQ(texts(compare(before, now)),
            (std::vector<std::string>{"compute keeps the device busy 2.0 ms less", "the device idles 0.12 ms longer"}));
  EXPECT_EQ(compare(before, now, {.at_most = 1}).size(), 1U);
}

TEST(Compare, SaysWhereTheHostBlocks) {
  StepAnalysis before = quiet_step();
  StepAnalysis now = before;
  const HostBlock finish{"input_dist_finish", BlockKind::kBlockingCopy, 3'200'000, 1};
  const HostBlock wait{"input_dist_wait", BlockKind::kStreamSync, 1'500'000, 1};
  now.host_blocks = {finish};
  EXPECT_EQ(compare(before, now),
            (std::vector<Reason>{{"host now blocks 3.2 ms in input_dist_finish (blocking copy)", 3'200'000}}));
  EXPECT_EQ(compare(now, before),
            (std::vector<Reason>{{"host no longer blocks 3.2 ms in input_dist_finish (blocking copy)", -3'200'000}}));
  before.host_blocks = {{"input_dist_finish", BlockKind::kBlockingCopy, kMillisecond, 1}};
  EXPECT_EQ(texts(compare(before, now)),
            (std::vector<std::string>{"host blocks 2.2 ms longer in input_dist_finish (blocking copy)"}));
  // Several places are one reason: 3.2 ms more and 1.5 ms less come to 1.7 ms.
  before.host_blocks = {wait};
  EXPECT_EQ(compare(before, now),
            (std::vector<Reason>{{"host blocks 1.7 ms longer: 3.2 ms more in input_dist_finish (blocking copy), "
                                  "1.5 ms less in input_dist_wait (stream sync)",
                                  1'700'000}}));
  before.host_blocks = {wait, {"", BlockKind::kDeviceSync, 1'700'000, 1}};
  EXPECT_EQ(
      texts(compare(before, now)),
      (std::vector<std::string>{"host blocks in other places, for no longer in all: 3.2 ms more in "
                                "input_dist_finish (blocking copy), 1.7 ms less outside all stages (device sync), "
                                "1.5 ms less in input_dist_wait (stream sync)"}));
}

// Threshold: 120 us. 3.2 ms more in one place, 1.5 ms less in another, and 0.1 ms less in each of three come to 1.4 ms.
TEST(Compare, CountsPlacesThatItDoesNotTell) {
  StepAnalysis before = quiet_step();
  StepAnalysis now = before;
  for (const char* stage : {"a", "b", "c"}) before.host_blocks.push_back({stage, BlockKind::kStreamSync, 100'000, 1});
  EXPECT_EQ(compare(before, now),
            (std::vector<Reason>{{"host blocks 0.30 ms shorter, a little in each of several places", -300'000}}));
  now.host_blocks = {{"forward", BlockKind::kStreamSync, 3'200'000, 1}};
  before.host_blocks.push_back({"backward", BlockKind::kStreamSync, 1'500'000, 1});
  EXPECT_EQ(compare(before, now),
            (std::vector<Reason>{{"host blocks 1.4 ms longer: 3.2 ms more in forward (stream sync), 1.5 ms less in "
                                  "backward (stream sync), and smaller changes",
                                  1'400'000}}));
  // One place and the small ones: 3.2 ms more and 0.3 ms less.
  before.host_blocks.pop_back();
  EXPECT_EQ(compare(before, now),
            (std::vector<Reason>{
                {"host blocks 2.9 ms longer: 3.2 ms more in forward (stream sync), and smaller changes", 2'900'000}}));
}

// Where the step's time goes comes first, however large the rest.
TEST(Compare, TellsWhereTheTimeGoesBeforeWhatLiesBehind) {
  const StepAnalysis before = quiet_step();
  StepAnalysis now = before;
  now.host_blocks = {{"a", BlockKind::kStreamSync, 9 * kMillisecond, 1}};
  now.overlap.mean.idle_ns = kMillisecond;
  now.overlap.mean.exposed_copy_ns = 2 * kMillisecond;
  EXPECT_EQ(texts(compare(before, now)),
            (std::vector<std::string>{"the device only copies from or to the host for 2.0 ms longer",
                                      "the device idles 1.0 ms longer", "host now blocks 9.0 ms in a (stream sync)"}));
}

TEST(Compare, SaysWhatRunsUnderWhat) {
  StepAnalysis before = quiet_step();
  StepAnalysis now = before;
  before.stages.stages = {{"backward", 20 * kMillisecond, 0},
                          {"embedding_lookup", 3 * kMillisecond, 0},
                          {"optimizer_step", 4 * kMillisecond, 0}};
  now.stages.stages = before.stages.stages;
  before.stages.pairs = {{"embedding_lookup", "backward", 1, kMillisecond},
                         {"backward", "optimizer_step", 0, kMillisecond}};
  now.stages.pairs = {{"embedding_lookup", "optimizer_step", 1, 1'900'000},
                      {"embedding_lookup", "backward", 1, 1'600'000}};
  const auto reasons = compare(before, now);
  EXPECT_EQ(texts(reasons),
            (std::vector<std::string>{"embedding_lookup of i+1 now runs under optimizer_step of i (1.9 ms)",
                                      "optimizer_step of i no longer runs under backward of i (1.0 ms before)",
                                      "embedding_lookup of i+1 overlaps backward of i by 0.60 ms more"}));
  EXPECT_EQ(reasons[0].effect_ns, -1'900'000);
  EXPECT_EQ(reasons[1].effect_ns, kMillisecond);
}

TEST(Compare, MillisecondsKeepTwoDigits) {
  EXPECT_EQ(in_ms(250 * kMillisecond), "250 ms");
  EXPECT_EQ(in_ms(-34'120'000), "34.1 ms");
  EXPECT_EQ(in_ms(2'149'000), "2.1 ms");
  EXPECT_EQ(in_ms(350'000), "0.35 ms");
}

// A run against itself differs in nothing.
TEST(Compare, FindsNothingBetweenEqualTraces) {
  Job job;
  job.annotate("embedding_lookup 4", 0, 2);
  job.annotate("optimizer_step 3", 2, 4);
  job.kernel(job.side, 1, 10, 40);
  job.kernel(job.main, 3, 20, 30);
  const trace::Trace trace = job.build();
  const Annotations annotations(trace);
  const StepAnalysis step{.overlap = overlap(trace, annotations, one_step(100)),
                          .host_blocks = host_blocking(trace, annotations, one_step(100)),
                          .stages = stage_overlap(trace, annotations, one_step(100))};
  EXPECT_TRUE(compare(step, step).empty());
}

}  // namespace
}  // namespace interlace::analysis
