#include "simulator/graph/critical_path.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::graph {
namespace {

using trace::LaneId;
using trace::MemorySpace;
using trace::Trace;

class CriticalPathTest : public testing::Test {
 protected:
  static constexpr Nanoseconds kUs = RecordedJob::kUs;
  RecordedJob job;
  trace::RankId rank = job.add_rank();
  LaneId host = job.thread(rank);
  LaneId main = job.stream(rank, 7);
  LaneId side = job.stream(rank, 20);
  Diagnostics diagnostics;

  /// "a b c": the operations of the path by name.
  static std::string names(const Trace& trace, const CriticalPath& path) {
    std::string text;
    for (const PathStep& step : path.steps) {
      if (!text.empty()) text += ' ';
      text += trace.name(step.operation);
    }
    return text;
  }
  /// The steps lie end to end and fill the window.
  static void expect_whole(const CriticalPath& path) {
    Nanoseconds at = path.window.begin;
    for (const PathStep& step : path.steps) {
      EXPECT_EQ(step.before.begin, at);
      EXPECT_EQ(step.before.end, step.in.begin);
      at = step.in.end;
    }
    EXPECT_EQ(at, path.window.end);
  }
};

// "made" (10 to 50) delays "used" (52 to 60) by an event; "before" ended at 30. So the path is: call at 0, 10 us of
// launch, "made" 40, 2 us of waiting, "used" 8. Had "made" been instant, "before" would have bound "used" 20 us
// earlier.
TEST_F(CriticalPathTest, FollowsTheDependencyMetLast) {
  job.launch(host, 0, side, "made", 10, 50);
  job.launch(host, 12, main, "before", 20, 30);
  job.record(host, 15);
  job.wait(host, 17, "wait", main);
  job.launch(host, 20, main, "used", 52, 60);
  const Trace trace = job.build();
  const Graph joined(trace, diagnostics);
  const CriticalPath path = critical_path(joined, {0, 60 * kUs});
  expect_whole(path);
  EXPECT_EQ(names(trace, path), "cudaLaunchKernel made used");
  const PathStep& used = path.steps[2];
  EXPECT_EQ(used.bound_by, EdgeKind::kEventWait);
  EXPECT_EQ(used.before, (Interval{50 * kUs, 52 * kUs}));
  EXPECT_EQ(used.slack, 20 * kUs);
  EXPECT_EQ(path.steps[1].bound_by, EdgeKind::kLaunch);

  const PathBreakdown spent = breakdown(joined, path);
  EXPECT_EQ(spent.of(PathTime::kCompute), 48 * kUs);
  EXPECT_EQ(spent.of(PathTime::kWaiting), 2 * kUs);
  EXPECT_EQ(spent.of(PathTime::kHost), 10 * kUs);
}

// The host reads a result back (copy 20 to 30, its call returns at 33), thinks until 50 and launches "next" (start 56).
TEST_F(CriticalPathTest, GoesThroughTheHostWhereItBlocks) {
  job.launch(host, 0, main, "first", 5, 20);
  job.copy(host, 6, 33, main, "read", 20, 30, MemorySpace::kDevice, MemorySpace::kPageable);
  job.launch(host, 50, main, "next", 56, 70);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const CriticalPath path = critical_path(graph, {0, 70 * kUs});
  expect_whole(path);
  EXPECT_EQ(names(trace, path), "cudaLaunchKernel first read cudaMemcpyAsync cudaLaunchKernel next");
  EXPECT_EQ(path.steps[3].bound_by, EdgeKind::kBlockingCopy);
  const PathBreakdown spent = breakdown(graph, path);
  EXPECT_EQ(spent.of(PathTime::kCopy), 10 * kUs);
  EXPECT_EQ(spent.of(PathTime::kCompute), (15 + 14) * kUs);
  // Launch 0 to 5; return of the copy 30 to 33; thinking 33 to 50; launch 50 to 56.
  EXPECT_EQ(spent.of(PathTime::kHost), (5 + 3 + 17 + 6) * kUs);
  EXPECT_EQ(spent.of(PathTime::kWaiting), 0);
}

// Rank 0 comes at 10 and waits; rank 1 comes at 60, since its "slow" kernel ends then. The collective ends at 80 and
// the path goes on with rank 1: 20 us of communication, then 50 us of computing.
TEST_F(CriticalPathTest, CrossesToTheRankThatCameLast) {
  const trace::RankId other = job.add_rank();
  const LaneId late = job.thread(other);
  const LaneId nccl = job.stream(other, 30);
  job.collective(host, 0, job.stream(rank, 30), "early", 10, 80);
  job.launch(late, 0, nccl, "slow", 10, 60);
  job.collective(late, 4, nccl, "late", 60, 80);
  job.collective(late, 200, nccl, "more", 210, 220);  // so that the stream counts as one for communication
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const CriticalPath path = critical_path(graph, {0, 80 * kUs});
  expect_whole(path);
  const PathBreakdown spent = breakdown(graph, path);
  EXPECT_EQ(spent.of(PathTime::kCommunication), 20 * kUs);
  EXPECT_EQ(spent.of(PathTime::kCompute), 50 * kUs);
  EXPECT_EQ(spent.of(PathTime::kHost), 10 * kUs);
  EXPECT_NE(names(trace, path).find("slow"), std::string::npos);
}

TEST_F(CriticalPathTest, CutsAtTheStartOfTheWindow) {
  for (int i = 0; i < 5; ++i) job.launch(host, 3 * i, main, std::to_string(i), 20 + 10 * i, 30 + 10 * i);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const CriticalPath path = critical_path(graph, {45 * kUs, 65 * kUs});
  expect_whole(path);
  EXPECT_EQ(names(trace, path), "2 3");  // "4" ends at 70; "3" ended at 60
  EXPECT_EQ(path.steps[0].in, (Interval{45 * kUs, 50 * kUs}));
  const PathBreakdown spent = breakdown(graph, path);
  EXPECT_EQ(spent.of(PathTime::kCompute), 20 * kUs);
}

TEST_F(CriticalPathTest, AWindowInWhichNothingEndsIsWaiting) {
  job.launch(host, 0, main, "a", 5, 10);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const CriticalPath path = critical_path(graph, {100 * kUs, 200 * kUs});
  EXPECT_TRUE(path.steps.empty());
  EXPECT_EQ(breakdown(graph, path).of(PathTime::kWaiting), 100 * kUs);
}

TEST_F(CriticalPathTest, SeveralWindowsGiveWhatEachGivesAlone) {
  for (int i = 0; i < 6; ++i) job.launch(host, 30 * i, main, std::to_string(i), 5 + 30 * i, 25 + 30 * i);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const std::vector<Interval> windows{{0, 60 * kUs}, {60 * kUs, 120 * kUs}, {30 * kUs, 175 * kUs}};
  const auto paths = critical_paths(graph, windows);
  ASSERT_EQ(paths.size(), windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    expect_whole(paths[i]);
    EXPECT_EQ(paths[i].steps, critical_path(graph, windows[i]).steps);
    const PathBreakdown spent = breakdown(graph, paths[i]);
    EXPECT_EQ(std::accumulate(spent.spent.begin(), spent.spent.end(), Nanoseconds{0}), windows[i].length());
  }
}

}  // namespace
}  // namespace interlace::graph
