#include "simulator/analysis/overlap.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/analysis/job.hpp"

namespace interlace::analysis {
namespace {

using trace::MemorySpace;

OverlapOfRanks overlap_of(const trace::Trace& trace, const std::vector<StepWindow>& windows) {
  return overlap(trace, Annotations(trace), windows);
}

// One window [0,200) of 2 steps:
//   compute        [10,50) and [40,60) -> union 50;  device-to-device copy [100,110) -> 60 together
//   collectives    [55,75) -> 20: 5 under compute, 15 exposed
//   host copies    [45,65) and [120,130) -> 30: 15 under compute [45,60), 10 with nothing else
//   busy           [10,75) + [100,110) + [120,130) = 85 -> idle 115
// Divided by 2 steps, rounded to nearest (halves up): exposed 15/2 = 8, hidden the rest of 10.
TEST(Overlap, CountsUnionsAStep) {
  Job job;
  job.annotate("step", 0, 200);
  job.kernel(job.main, 1, 10, 50);
  job.kernel(job.side, 2, 40, 60);
  job.copy(job.main, {3, 4}, {100, 110}, MemorySpace::kDevice, MemorySpace::kDevice);
  job.collective(job.side, 5, 55, 75);
  job.copy(job.copies, {6, 7}, {45, 65}, MemorySpace::kPinned, MemorySpace::kDevice);
  job.copy(job.copies, {8, 9}, {120, 130}, MemorySpace::kDevice, MemorySpace::kPinned);
  const trace::Trace trace = job.build();

  const OverlapSummary mean = overlap_of(trace, {{.span = {0, 200}, .steps = 2}}).mean;
  EXPECT_EQ(mean.step_ns, 100);
  EXPECT_EQ(mean.compute_ns, 30);
  EXPECT_EQ(mean.communication_ns, 10);
  EXPECT_EQ(mean.exposed_communication_ns, 8);
  EXPECT_EQ(mean.communication_hidden_ns, 2);
  EXPECT_EQ(mean.copy_ns, 15);
  EXPECT_EQ(mean.copy_hidden_ns, 8);
  EXPECT_EQ(mean.exposed_copy_ns, 5);
  EXPECT_EQ(mean.idle_ns, 57);  // 100 - round(85/2)
  EXPECT_DOUBLE_EQ(mean.communication_hidden_ratio().value(), 0.2);
  EXPECT_DOUBLE_EQ(mean.busy_ratio().value(), 0.43);
  EXPECT_FALSE(mean.lookup_ns.has_value());
}

TEST(Overlap, ClipsToTheWindow) {
  Job job;
  job.annotate("step", 0, 200);
  job.kernel(job.main, 1, 10, 90);       // 30 inside [50,80)
  job.collective(job.side, 2, 70, 300);  // 10 inside, all under compute
  const trace::Trace trace = job.build();
  const OverlapSummary mean = overlap_of(trace, {{.span = {50, 80}, .steps = 1}}).mean;
  EXPECT_EQ(mean.compute_ns, 30);
  EXPECT_EQ(mean.communication_ns, 10);
  EXPECT_EQ(mean.exposed_communication_ns, 0);
  EXPECT_EQ(mean.idle_ns, 0);
}

TEST(Overlap, ACopyBetweenDevicesIsCommunication) {
  Job job;
  job.annotate("step", 0, 100);
  job.builder.add_copy(job.at(job.side, "Memcpy PtoP", 10, 30),
                       {.bytes = 8, .source = MemorySpace::kDevice, .destination = MemorySpace::kDevice, .peer = true});
  const trace::Trace trace = job.build();
  const OverlapSummary mean = overlap_of(trace, {{.span = {0, 100}, .steps = 1}}).mean;
  EXPECT_EQ(mean.communication_ns, 20);
  EXPECT_EQ(mean.compute_ns, 0);
}

TEST(Overlap, TellsHowMuchOfTheLookupIsHidden) {
  Job job;
  job.annotate("embedding_lookup 4", 0, 10);
  job.annotate("backward 3", 10, 20);
  job.kernel(job.side, 5, 30, 70);   // lookup, 40
  job.kernel(job.main, 15, 50, 90);  // backward: 20 of it
  const trace::Trace trace = job.build();
  const OverlapSummary mean = overlap_of(trace, {{.span = {0, 100}, .steps = 1}}).mean;
  EXPECT_EQ(mean.lookup_ns, 40);
  EXPECT_EQ(mean.lookup_hidden_ns, 20);
}

TEST(Overlap, MeanIsOverRanks) {
  Job job;
  job.annotate("step", 0, 100);
  const trace::RankId second = job.builder.add_rank({.number = 1});
  job.kernel(job.main, 1, 10, 30);                  // rank 0: 20
  job.kernel(job.stream_of(second, 7), 1, 10, 50);  // rank 1: 40; the launch lies on rank 0, so unlinked
  const trace::Trace trace = job.build();
  const StepWindow window{.span = {0, 100}, .steps = 1};
  const OverlapOfRanks result = overlap_of(trace, {window, window});
  ASSERT_EQ(result.ranks.size(), 2U);
  EXPECT_EQ(result.ranks[0].compute_ns, 20);
  EXPECT_EQ(result.ranks[1].compute_ns, 40);
  EXPECT_EQ(result.mean.compute_ns, 30);
}

TEST(Overlap, AnEmptyTraceHasNoRatios) {
  const trace::Trace trace = Job().build();
  const OverlapSummary mean = overlap_of(trace, whole_trace(trace)).mean;
  EXPECT_EQ(mean.step_ns, 0);
  EXPECT_FALSE(mean.busy_ratio().has_value());
  EXPECT_FALSE(mean.communication_hidden_ratio().has_value());
  EXPECT_FALSE(mean.copy_hidden_ratio().has_value());
}

}  // namespace
}  // namespace interlace::analysis
