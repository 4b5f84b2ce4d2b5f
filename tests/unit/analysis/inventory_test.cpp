#include <gtest/gtest.h>

#include <vector>

#include "simulator/analysis/steps.hpp"
#include "simulator/analysis/streams.hpp"
#include "simulator/analysis/tallies.hpp"
#include "simulator/trace/limits.hpp"
#include "tests/unit/analysis/job.hpp"

namespace interlace::analysis {
namespace {

using trace::MemorySpace;

TEST(StreamUse, GivesEachStreamItsRole) {
  Job job;
  job.annotate("s", 0, 100);
  const trace::LaneId lookup = job.stream_of(job.rank, 30);
  const trace::LaneId outside = job.stream_of(job.rank, 31);
  job.kernel(job.main, 1, 10, 50);
  job.kernel(job.main, 1, 40, 60);  // overlaps the one before on its own stream: union 50
  job.kernel(lookup, 2, 10, 30);
  job.collective(job.side, 3, 20, 60);
  job.kernel(job.side, 3, 60, 65);
  job.copy(job.copies, {4, 5}, {10, 20}, MemorySpace::kPinned, MemorySpace::kDevice);
  job.kernel(outside, 6, 300, 310);
  const trace::Trace trace = job.build();

  const auto use = stream_use(trace, std::vector<StepWindow>{{{0, 100}, 2}});
  ASSERT_EQ(use.size(), 5U);  // in the order in which Job made them: 7, 20, 24, 30, 31
  EXPECT_EQ(use[0].role, StreamRole::kMain);
  EXPECT_EQ(use[0].busy_ns, 25);
  EXPECT_EQ(use[0].operations, 1);  // a step
  EXPECT_EQ(use[1].role, StreamRole::kCommunication);
  EXPECT_EQ(use[1].of_class_ns[static_cast<std::size_t>(DeviceClass::kCommunication)], 20);
  EXPECT_EQ(use[2].role, StreamRole::kCopy);
  EXPECT_EQ(use[3].role, StreamRole::kCompute);
  EXPECT_EQ(use[4].role, StreamRole::kIdle);
}

TEST(StreamUse, TheStreamWithMostComputeIsMainAlsoWhereItCopiesMore) {
  Job job;
  job.kernel(job.main, 1, 10, 20);
  job.copy(job.main, {4, 5}, {20, 90}, MemorySpace::kPinned, MemorySpace::kDevice);
  job.kernel(job.side, 3, 60, 65);
  const auto use = stream_use(job.build(), std::vector<StepWindow>{{{0, 100}, 1}});
  EXPECT_EQ(use[0].role, StreamRole::kMain);
  EXPECT_EQ(use[1].role, StreamRole::kCompute);
}

TEST(StreamUse, CountsWhatReachesIntoTheWindow) {
  Job job;
  job.collective(job.side, 0, 10, 60);
  job.kernel(job.main, 1, 90, 130);
  job.kernel(job.main, 2, 130, 140);
  const trace::Trace trace = job.build();
  const auto use = stream_use(trace, std::vector<StepWindow>{{{50, 100}, 1}});
  for (const StreamUse& one : use) {
    if (one.stream != job.side && one.stream != job.main) continue;
    EXPECT_EQ(one.operations, 1);
    EXPECT_EQ(one.busy_ns, 10);
  }
}

TEST(Tallies, TopKernelsByTime) {
  Job job;
  job.kernel(job.main, 0, 10, 20, "a");
  job.kernel(job.main, 0, 20, 50, "b");
  job.kernel(job.side, 0, 20, 45, "a");
  job.kernel(job.side, 0, 50, 51, "c");
  const trace::Trace trace = job.build();
  const auto top = top_kernels(trace, 2);
  const std::vector<KernelTally> expected{{"a", 2, 35, 10, 25}, {"b", 1, 30, 30, 30}};
  EXPECT_EQ(top, expected);
}

TEST(Tallies, CollectivesWithBytes) {
  Job job;
  const trace::CollectiveDetail detail{.function = trace::CollectiveFunction::kAllToAll,
                                       .name = job.builder.intern("all_to_allv"),
                                       .dtype = job.builder.intern("Float"),
                                       .in_elements = 100,
                                       .out_elements = 50,
                                       .group_size = 2,
                                       .element_bytes = 4};
  job.collective(job.side, 0, 10, 30, detail);
  job.collective(job.side, 0, 30, 40, detail);
  job.collective(job.side, 0, 40, 41);
  const trace::CollectiveDetail unnamed{.function = trace::CollectiveFunction::kAllReduce,
                                        .name = job.builder.intern(""),
                                        .dtype = job.builder.intern("")};
  job.collective(job.side, 0, 50, 53, unnamed);
  const trace::Trace trace = job.build();
  const auto tallies = tally_collectives(trace);
  ASSERT_EQ(tallies.size(), 3U);
  EXPECT_EQ(tallies[0],
            (CollectiveTally{trace::CollectiveFunction::kAllToAll, "all_to_allv", "Float", 2, 2, 800, 400, 30}));
  EXPECT_EQ(tallies[1].name, "ncclDevKernel_SendRecv");
  EXPECT_EQ(tallies[1].function, trace::CollectiveFunction::kAllReduce);
  EXPECT_EQ(tallies[2].name, "ncclDevKernel_SendRecv");
  EXPECT_EQ(tallies[2].function, trace::CollectiveFunction::kUnknown);
}

// A damaged recording may have any number of the largest collectives.
TEST(Tallies, BytesBeyondCountingStayAtTheMost) {
  Job job;
  const trace::CollectiveDetail detail{.name = job.builder.intern("a"),
                                       .dtype = job.builder.intern(""),
                                       .in_elements = trace::kLargestAmount,
                                       .out_elements = 1,
                                       .element_bytes = trace::kLargestElement};
  for (int i = 0; i < 600; ++i) job.collective(job.side, 0, 10 * i, 10 * i + 1, detail);
  const auto tallies = tally_collectives(job.build());
  ASSERT_EQ(tallies.size(), 1U);
  EXPECT_EQ(tallies[0].in_bytes, INT64_MAX);
  EXPECT_EQ(tallies[0].out_bytes, 600 * trace::kLargestElement);
}

TEST(Tallies, CountsOperationsByKind) {
  Job job;
  job.annotate("s", 0, 100);
  job.kernel(job.main, 1, 10, 50);
  const auto counts = count_operations(job.build());
  EXPECT_EQ(counts[static_cast<std::size_t>(trace::OperationKind::kKernel)], 1);
  EXPECT_EQ(counts[static_cast<std::size_t>(trace::OperationKind::kHostCall)], 1);
  EXPECT_EQ(counts[static_cast<std::size_t>(trace::OperationKind::kRange)], 1);
  EXPECT_EQ(counts[static_cast<std::size_t>(trace::OperationKind::kCopy)], 0);
}

TEST(StepWindow, JoinsStepsThatFollowOneAnother) {
  const std::vector<Interval> steps{{10, 110}, {110, 205}};
  EXPECT_EQ(window_of(steps), (StepWindow{.span = {10, 205}, .steps = 2}));
}

// Steps of 100, one of 400 in which rank 1 stood still.
TEST(StepWindow, IsSteadyOverTheLongestStretchWithoutAStall) {
  const std::vector<std::vector<Interval>> steps{
      {{0, 100}, {100, 200}, {200, 390}, {390, 490}, {490, 590}, {590, 690}},
      {{5, 105}, {105, 205}, {205, 605}, {605, 705}, {705, 805}, {805, 905}}};
  const std::vector<StepWindow> windows = steady_windows_of(steps);
  EXPECT_EQ(windows[0], (StepWindow{.span = {390, 690}, .steps = 3}));
  EXPECT_EQ(windows[1], (StepWindow{.span = {605, 905}, .steps = 3}));
}

TEST(StepWindow, OfFewStepsOrUnevenRanksHoldsAll) {
  const std::vector<std::vector<Interval>> few{{{0, 100}, {100, 900}, {900, 1000}}};
  EXPECT_EQ(steady_windows_of(few)[0], (StepWindow{.span = {0, 1000}, .steps = 3}));
  const std::vector<std::vector<Interval>> uneven{{{0, 100}, {100, 200}, {200, 900}, {900, 1000}}, {{0, 1000}}};
  EXPECT_EQ(steady_windows_of(uneven)[0], (StepWindow{.span = {0, 1000}, .steps = 4}));
  EXPECT_EQ(steady_windows_of(uneven)[1], (StepWindow{.span = {0, 1000}, .steps = 1}));
  EXPECT_TRUE(steady_windows_of(std::vector<std::vector<Interval>>{}).empty());
}

// Three steps of 100: forward and backward come once a step, "nccl" twice. Backward launches (through autograd) the
// longest device work: 40 at +60 of each step.
void write_steps(Job& job) {
  for (Nanoseconds t = 0; t < 300; t += 100) {
    const std::string batch = std::to_string(t / 100);
    job.annotate("## forward " + batch + " ##", t, t + 20);
    job.annotate("## backward " + batch + " ##", t + 20, t + 40);
    job.annotate("nccl", t + 50, t + 51);
    job.annotate("nccl", t + 52, t + 53);
    job.kernel(job.main, t + 5, t + 10, t + 30);
    job.kernel_from(job.autograd, job.main, t + 30, t + 60, t + 100);
  }
}

TEST(FindSteps, TakesTheRepeatingAnnotationWithMostKernelTime) {
  Job job;
  write_steps(job);
  const trace::Trace trace = job.build();
  const auto steps = find_steps(trace, Annotations(trace));
  ASSERT_TRUE(steps[0].has_value());
  EXPECT_EQ(steps[0]->marker, "backward");
  EXPECT_EQ(steps[0]->evidence, StepEvidence::kUsualCount);
  EXPECT_EQ(steps[0]->host, (std::vector<Nanoseconds>{20, 120, 220}));
  EXPECT_EQ(steps[0]->device, (std::vector<Nanoseconds>{60, 160, 260}));
  EXPECT_EQ(windows_of(trace, steps).host[0], (StepWindow{.span = {20, 220}, .steps = 2}));
  EXPECT_EQ(windows_of(trace, steps).device[0], (StepWindow{.span = {100, 300}, .steps = 2}));
}

// The device takes 200 a step. The first step's work starts at once, the host is three steps ahead by then, and the
// device never waits again: starts lie 100 and 200 apart, ends 200.
TEST(FindSteps, AreAsLongAsTheDeviceNeedsWhereTheHostRunsAhead) {
  Job job;
  const std::vector<Interval> first{{10, 20}, {120, 130}, {320, 330}};
  const std::vector<Interval> second{{20, 120}, {220, 320}, {420, 520}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto t = static_cast<Nanoseconds>(30 * i);
    job.annotate("## backward " + std::to_string(i) + " ##", t, t + 20);
    job.kernel(job.main, t + 5, first[i].begin, first[i].end);
    job.kernel(job.main, t + 6, second[i].begin, second[i].end);
  }
  const trace::Trace trace = job.build();
  const auto steps = find_steps(trace, Annotations(trace));
  EXPECT_EQ(windows_of(trace, steps).device[0], (StepWindow{.span = {120, 520}, .steps = 2}));
}

TEST(FindSteps, PrefersProfilerSteps) {
  Job job;
  write_steps(job);
  for (Nanoseconds t = 0; t < 300; t += 100) job.annotate("ProfilerStep#" + std::to_string(t / 100), t, t + 99);
  const trace::Trace trace = job.build();
  const auto steps = find_steps(trace, Annotations(trace));
  ASSERT_TRUE(steps[0].has_value());
  EXPECT_EQ(steps[0]->marker, "ProfilerStep");
  EXPECT_EQ(steps[0]->device, (std::vector<Nanoseconds>{10, 110, 210}));
}

// The next batch's kernels hold the optimizer up by 20 in every step but the last, behind which nothing comes: its ends
// lie 100 and 80 apart, those of the backward, which launches most, 100.
TEST(FindSteps, EndWithWhatLaunchesMostAlsoWithinProfilerSteps) {
  for (const bool most_in_backward : {true, false}) {
    Job job;
    for (Nanoseconds t = 0; t < 300; t += 100) {
      const std::string batch = std::to_string(t / 100);
      job.annotate("ProfilerStep#" + batch, t, t + 99);
      job.annotate("backward", t + 1, t + 20);
      job.kernel(job.main, t + 2, t + 10, t + (most_in_backward ? 70 : 30));
      job.annotate("optimizer", t + 21, t + 40);
      job.kernel(job.main, t + 22, t + (t < 200 ? 92 : 72), t + (t < 200 ? 95 : 75));
      job.kernel(job.side, t + 50, t + 52, t + 80);  // of the step, in no annotation beside
    }
    const trace::Trace trace = job.build();
    const auto steps = find_steps(trace, Annotations(trace));
    ASSERT_TRUE(steps[0].has_value());
    EXPECT_EQ(steps[0]->marker, "ProfilerStep");
    EXPECT_EQ(steps[0]->ended_by, most_in_backward ? "backward" : "ProfilerStep");
    EXPECT_EQ(steps[0]->device_end,
              most_in_backward ? (std::vector<Nanoseconds>{70, 170, 270}) : (std::vector<Nanoseconds>{95, 195, 280}));
  }
}

// Device steps of 100. The first rank's host takes 30, 60 and then as long as the device; the other's runs ahead for
// one step, and its last of 96 differs as steps do.
TEST(FindSteps, OfTheHostLeaveOutThoseInWhichItGetsAhead) {
  const std::vector<std::vector<Nanoseconds>> marks{{0, 30, 90, 190, 290}, {0, 40, 140, 240, 336}};
  for (const std::size_t recorded : {5U, 3U}) {
    Job job;
    const trace::RankId other = job.builder.add_rank({.number = 1, .source = "r1.json"});
    const std::vector<trace::LaneId> threads{job.thread, job.thread_of(other, 1)};
    const std::vector<trace::LaneId> streams{job.main, job.stream_of(other, 7)};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      for (std::size_t i = 0; i < recorded; ++i) {
        const Nanoseconds t = marks[rank][i];
        const auto begin = static_cast<Nanoseconds>(100 * i) + 20;
        job.annotate(threads[rank], "backward " + std::to_string(i), t, t + 20);
        job.kernel_from(threads[rank], streams[rank], t + 5, begin, begin + 90);
      }
    }
    const trace::Trace trace = job.build();
    const StepWindows windows = windows_of(trace, find_steps(trace, Annotations(trace)));
    EXPECT_EQ(windows.host_ahead, recorded == 3);
    const std::int64_t kept = 2;  // all two where no host came to wait
    EXPECT_EQ(windows.host[0], (StepWindow{.span = {recorded == 3 ? 0 : 90, recorded == 3 ? 90 : 290}, .steps = kept}));
    EXPECT_EQ(windows.host[1],
              (StepWindow{.span = {recorded == 3 ? 0 : 140, recorded == 3 ? 140 : 336}, .steps = kept}));
    EXPECT_EQ(windows.device[0].steps, static_cast<std::int64_t>(recorded) - 1);
  }
}

// One profiled step of two microbatches: what comes twice in it is no step.
TEST(FindSteps, TakesOneProfilerStepForTheStep) {
  Job job;
  job.annotate("ProfilerStep#10", 0, 200);
  for (Nanoseconds t = 0; t < 200; t += 100) {
    job.annotate("forward", t + 1, t + 20);
    job.kernel(job.main, t + 5, t + 10, t + 30);
  }
  const trace::Trace trace = job.build();
  const auto steps = find_steps(trace, Annotations(trace));
  ASSERT_TRUE(steps[0].has_value());
  EXPECT_EQ(steps[0]->marker, "ProfilerStep");
  EXPECT_EQ(steps[0]->evidence, StepEvidence::kName);
  EXPECT_EQ(steps[0]->count(), 1U);
  EXPECT_EQ(windows_of(trace, steps).device, whole_trace(trace)) << "a step goes from one mark to the next";
}

// Microbatches repeat within a step. The optimizer runs once: PyTorch annotates that itself, whatever the program does.
TEST(FindSteps, CountsStepsByTheOptimizer) {
  for (const auto& [optimizer, end] : {std::pair{"Optimizer.step#Adam.step", Nanoseconds{100}},
                                       {"Optimizer.step#Adam.step", Nanoseconds{300}},
                                       {"optimizer_step", Nanoseconds{300}}}) {
    Job job;
    for (Nanoseconds t = 0; t < end; t += 100) {
      job.annotate("load", t, t + 4);
      for (Nanoseconds micro = t + 10; micro < t + 70; micro += 20) {
        job.annotate("forward", micro, micro + 8);
        job.kernel(job.main, micro + 1, micro + 2, micro + 10);
        job.annotate("backward", micro + 10, micro + 18);
      }
      job.annotate(optimizer, t + 80, t + 90);
      job.kernel(job.main, t + 81, t + 82, t + 85);
    }
    const trace::Trace trace = job.build();
    const auto steps = find_steps(trace, Annotations(trace));
    ASSERT_TRUE(steps[0].has_value());
    EXPECT_EQ(steps[0]->marker, optimizer) << "it launches more than load";
    EXPECT_EQ(steps[0]->evidence, StepEvidence::kOptimizer);
    EXPECT_EQ(steps[0]->count(), static_cast<std::size_t>(end / 100));
  }
}

// An average of the parameters that is taken once, which PyTorch annotates as it does each step().
TEST(FindSteps, AnOptimizerThatRunsOnceHidesNoSteps) {
  for (const Nanoseconds at : {350, -50}) {
    Job job;
    write_steps(job);
    for (Nanoseconds t = 0; t < 300; t += 100) job.annotate("Optimizer.step#Adam.step", t + 60, t + 70);
    job.annotate("Optimizer.step#EMA.step", at, at + 20);
    job.annotate("Optimizer.step#Zeroth.step", at + 30, at + 40);
    const trace::Trace trace = job.build();
    const auto steps = find_steps(trace, Annotations(trace));
    ASSERT_TRUE(steps[0].has_value());
    EXPECT_EQ(steps[0]->evidence, StepEvidence::kOptimizer);
    EXPECT_EQ(steps[0]->count(), 3U);
  }
}

TEST(FindSteps, GoesByAMarkerThatIsNamed) {
  Job job;
  write_steps(job);
  const trace::Trace trace = job.build();
  const auto steps = steps_marked_by(trace, Annotations(trace), "forward");
  ASSERT_TRUE(steps[0].has_value());
  EXPECT_EQ(steps[0]->device, (std::vector<Nanoseconds>{10, 110, 210}));
  EXPECT_EQ(steps[0]->device_end, (std::vector<Nanoseconds>{30, 130, 230}));
  EXPECT_FALSE(steps_marked_by(trace, Annotations(trace), "optimizer")[0].has_value());
}

// A copy queued early by one annotation takes longer than all kernels; its device times say little of the steps.
TEST(FindSteps, DoesNotGoByCopies) {
  Job job;
  write_steps(job);
  job.copy(job.copies, {6, 7}, {10, 290}, MemorySpace::kPinned, MemorySpace::kDevice);  // in "forward 0"
  const trace::Trace trace = job.build();
  EXPECT_EQ(find_steps(trace, Annotations(trace))[0]->marker, "backward");
}

// Where an instance of the marker launches nothing, the device tells no steps; the host's serve.
TEST(FindSteps, FallsBackToTheHostsTimes) {
  Job job;
  for (Nanoseconds t = 0; t < 300; t += 100) job.annotate("## forward " + std::to_string(t) + " ##", t, t + 20);
  job.kernel(job.main, 5, 10, 30);
  const trace::Trace trace = job.build();
  const auto steps = find_steps(trace, Annotations(trace));
  ASSERT_TRUE(steps[0].has_value());
  EXPECT_TRUE(steps[0]->device.empty());
  EXPECT_EQ(windows_of(trace, steps).device[0], (StepWindow{.span = {0, 200}, .steps = 2}));
}

TEST(FindSteps, SaysNothingWhereNothingRepeats) {
  Job job;
  job.annotate("once", 0, 50);
  job.kernel(job.main, 1, 10, 50);
  const trace::Trace trace = job.build();
  const auto steps = find_steps(trace, Annotations(trace));
  EXPECT_FALSE(steps[0].has_value());
  EXPECT_EQ(windows_of(trace, steps).device, whole_trace(trace));
  EXPECT_EQ(windows_of(trace, steps).host, whole_trace(trace));
}

}  // namespace
}  // namespace interlace::analysis
