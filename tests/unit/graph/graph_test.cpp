#include "simulator/graph/graph.hpp"

#include <gtest/gtest.h>

#include "simulator/graph/rules/rules.hpp"
#include "simulator/graph/verify.hpp"
#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::graph {
namespace {

using trace::LaneId;
using trace::MemorySpace;
using trace::OperationId;
using trace::SyncKind;
using trace::Trace;

class GraphTest : public testing::Test {
 protected:
  RecordedJob job;
  trace::RankId rank = job.add_rank();
  LaneId host = job.thread(rank);
  LaneId main = job.stream(rank, 7);
  LaneId side = job.stream(rank, 20);
  Diagnostics diagnostics;

  /// Whether the graph has this edge.
  static bool has(const Graph& graph, VertexId from, VertexId to, EdgeKind kind) {
    bool found = false;
    graph.for_each_predecessor(to,
                               [&](VertexId source, EdgeKind k) { found = found || (source == from && k == kind); });
    return found;
  }
  static VertexId start(const Graph& graph, std::string_view name) {
    return Graph::start_of(named(graph.trace(), name));
  }
  static VertexId end(const Graph& graph, std::string_view name) { return Graph::end_of(named(graph.trace(), name)); }
};

TEST_F(GraphTest, OrdersAThreadItsLaunchesAndItsStream) {
  job.launch(host, 0, main, "a", 10, 20);
  job.launch(host, 5, main, "b", 21, 30);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);

  const OperationId first = *trace.launch_of(named(trace, "a"));
  const OperationId second = *trace.launch_of(named(trace, "b"));
  EXPECT_TRUE(has(graph, Graph::end_of(first), Graph::start_of(second), EdgeKind::kProgramOrder));
  EXPECT_TRUE(has(graph, Graph::start_of(first), start(graph, "a"), EdgeKind::kLaunch));
  EXPECT_TRUE(has(graph, end(graph, "a"), start(graph, "b"), EdgeKind::kStreamOrder));
  EXPECT_TRUE(has(graph, start(graph, "a"), end(graph, "a"), EdgeKind::kDuration));
  EXPECT_EQ(graph.vertices(), 8U);
  EXPECT_EQ(graph.edges(), 4U + 1 + 2 + 1);  // durations, program order, launches, stream order
  EXPECT_TRUE(verify(graph).sound());
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(GraphTest, ANestedCallStartsAfterTheOneAroundIt) {
  const auto call = [&](std::string_view name, Nanoseconds from, Nanoseconds to) {
    job.builder.add_host_call({host, job.builder.intern(name), from * 1'000, (to - from) * 1'000, {}});
  };
  call("outer", 0, 10);
  call("inner", 2, 4);
  call("second", 5, 6);
  call("next", 12, 13);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, start(graph, "outer"), start(graph, "inner"), EdgeKind::kProgramOrder));
  EXPECT_TRUE(has(graph, end(graph, "inner"), start(graph, "second"), EdgeKind::kProgramOrder));
  EXPECT_TRUE(has(graph, end(graph, "outer"), start(graph, "next"), EdgeKind::kProgramOrder));
  EXPECT_TRUE(verify(graph).sound());
}

TEST_F(GraphTest, AStreamThatWaitsFollowsTheOtherStream) {
  job.launch(host, 0, side, "made", 10, 50);
  job.record(host, 5);
  job.wait(host, 8, "wait", main);
  job.launch(host, 12, main, "used", 52, 60);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, end(graph, "made"), start(graph, "used"), EdgeKind::kEventWait));
}

TEST_F(GraphTest, AHostSynchronisationEndsAfterTheWork) {
  job.launch(host, 0, main, "on main", 10, 50);
  job.launch(host, 3, side, "on side", 10, 90);
  job.sync(host, 6, 52, "stream sync", {.kind = SyncKind::kStreamSync, .stream = main});
  job.sync(host, 60, 92, "device sync", {.kind = SyncKind::kDeviceSync});
  job.launch(host, 95, side, "later", 100, 110);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, end(graph, "on main"), end(graph, "stream sync"), EdgeKind::kHostSync));
  EXPECT_TRUE(has(graph, end(graph, "on main"), end(graph, "device sync"), EdgeKind::kHostSync));
  EXPECT_TRUE(has(graph, end(graph, "on side"), end(graph, "device sync"), EdgeKind::kHostSync));
  EXPECT_EQ(graph.edges_of(EdgeKind::kHostSync), 3U);
}

TEST_F(GraphTest, AnEventSynchronisationWaitsForItsRecordOnly) {
  job.launch(host, 0, main, "before", 10, 50);
  const OperationId record = job.record(host, 3);
  job.launch(host, 5, main, "after", 50, 200);
  job.sync(host, 8, 52, "sync", {.kind = SyncKind::kEventSync, .record = record, .record_stream = main});
  job.sync(host, 60, 61, "lost", {.kind = SyncKind::kEventSync, .event = 7});
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, end(graph, "before"), end(graph, "sync"), EdgeKind::kHostSync));
  EXPECT_EQ(graph.edges_of(EdgeKind::kHostSync), 1U);
  EXPECT_EQ(diagnostics.count_of(kSyncTargetUnknown.code), 1);
}

TEST_F(GraphTest, ASynchronisationWithoutStreamTakesTheStreamInUse) {
  job.launch(host, 0, main, "on main", 10, 20);
  job.launch(host, 3, side, "on side", 10, 50);
  job.sync(host, 6, 52, "cudaStreamSynchronize", {});
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, end(graph, "on side"), end(graph, "cudaStreamSynchronize"), EdgeKind::kHostSync));
  EXPECT_EQ(diagnostics.count_of(kSyncStreamInferred.code), 1);
}

TEST_F(GraphTest, ACopyToPageableMemoryHoldsItsCall) {
  job.copy(host, 0, 32, main, "pageable", 10, 30, MemorySpace::kDevice, MemorySpace::kPageable);
  job.copy(host, 40, 42, main, "pinned", 50, 90, MemorySpace::kDevice, MemorySpace::kPinned);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const OperationId call = *trace.launch_of(named(trace, "pageable"));
  EXPECT_TRUE(has(graph, end(graph, "pageable"), Graph::end_of(call), EdgeKind::kBlockingCopy));
  EXPECT_EQ(graph.edges_of(EdgeKind::kBlockingCopy), 1U);
  EXPECT_TRUE(verify(graph).acyclic);  // call -> copy -> call goes by start and end
}

TEST_F(GraphTest, ACollectiveEndsAfterEveryRankHasCome) {
  const trace::RankId other = job.add_rank();
  job.collective(host, 0, job.stream(rank, 30), "early", 10, 100);
  job.collective(job.thread(other), 0, job.stream(other, 30), "late", 70, 101);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  ASSERT_EQ(graph.vertices(), 2 * trace.size() + 1);
  const auto meeting = static_cast<VertexId>(2 * trace.size());
  EXPECT_FALSE(graph.operation_of(meeting).has_value());
  EXPECT_EQ(graph.time_of(meeting), trace.start(named(trace, "late")));
  for (const char* name : {"early", "late"}) {
    EXPECT_TRUE(has(graph, start(graph, name), meeting, EdgeKind::kRendezvous)) << name;
    EXPECT_TRUE(has(graph, meeting, end(graph, name), EdgeKind::kRendezvous)) << name;
  }
  EXPECT_TRUE(verify(graph).sound());
}

class HandoffTest : public GraphTest {
 protected:
  LaneId backward = job.thread(rank, 2);

  void autograd_calls(Nanoseconds from, int count, const std::string& prefix) {
    job.range(backward, "autograd::engine::evaluate_function: X", from, from + 5 * count);
    for (int i = 0; i < count; ++i) job.call_of(backward, prefix + std::to_string(i), from + 5 * i);
  }
};

TEST_F(HandoffTest, BackwardStartsAfterItsCallerAndHoldsIt) {
  job.call_of(host, "forward", 0);
  autograd_calls(10, 20, "bwd ");
  job.call_of(host, "optimizer", 200);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, end(graph, "forward"), start(graph, "bwd 0"), EdgeKind::kThreadHandoff));
  EXPECT_TRUE(has(graph, end(graph, "bwd 19"), start(graph, "optimizer"), EdgeKind::kThreadHandoff));
  EXPECT_EQ(graph.edges_of(EdgeKind::kThreadHandoff), 2U);
}

TEST_F(HandoffTest, ThreadsThatRunAtOnceDoNotHoldEachOther) {
  autograd_calls(10, 20, "bwd ");
  for (int i = 0; i < 30; ++i) job.call_of(host, "fwd " + std::to_string(i), 7 + 4 * i);
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_EQ(graph.edges_of(EdgeKind::kThreadHandoff), 0U);
  EXPECT_EQ(diagnostics.count_of(kConcurrentThread.code), 1);
}

TEST_F(GraphTest, OverlapOnAStreamIsOrderedByStart) {
  job.launch(host, 0, main, "a", 10, 30);
  job.launch(host, 3, main, "b", 20, 40);  // programmatic launch: starts before "a" ends
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, start(graph, "a"), start(graph, "b"), EdgeKind::kStreamOrder));
  EXPECT_EQ(diagnostics.count_of(kOverlapOnStream.code), 1);
  EXPECT_TRUE(verify(graph).sound());
}

// Branches of a CUDA graph: the first to be queued may be the last to end.
TEST_F(GraphTest, WhatFollowsOverlapOnAStreamWaitsForTheLastToEnd) {
  job.launch(host, 0, main, "long", 10, 50);
  job.launch(host, 2, main, "short", 15, 30);
  job.launch(host, 4, main, "next", 51, 60);
  job.record(host, 5);
  job.builder.sync_detail(job.wait(host, 6, "wait", side)).record_stream = main;
  job.launch(host, 8, side, "beside", 52, 60);
  job.sync(host, 9, 70, "stream sync", {.kind = SyncKind::kStreamSync, .stream = main});
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_TRUE(has(graph, end(graph, "short"), start(graph, "next"), EdgeKind::kStreamOrder));
  EXPECT_TRUE(has(graph, end(graph, "long"), start(graph, "next"), EdgeKind::kStreamOrder));
  EXPECT_TRUE(verify(graph).sound());

  RecordedJob other;
  const trace::RankId r = other.add_rank();
  const LaneId thread = other.thread(r);
  const LaneId stream = other.stream(r, 7);
  other.launch(thread, 0, stream, "long", 10, 50);
  other.launch(thread, 2, stream, "short", 15, 30);
  other.sync(thread, 5, 52, "stream sync", {.kind = SyncKind::kStreamSync, .stream = stream});
  const Trace synchronised = other.build();
  const Graph of_sync(synchronised, diagnostics);
  EXPECT_TRUE(has(of_sync, end(of_sync, "long"), end(of_sync, "stream sync"), EdgeKind::kHostSync));
}

TEST_F(GraphTest, AnEventSynchronisationOfALostRecordWaitsForNothingThatIsKnown) {
  job.launch(host, 0, main, "made", 10, 50);
  job.sync(host, 6, 52, "event sync", {.kind = SyncKind::kEventSync, .record_stream = main});
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_FALSE(has(graph, end(graph, "made"), end(graph, "event sync"), EdgeKind::kHostSync));
  EXPECT_EQ(diagnostics.count_of(kSyncTargetUnknown.code), 1);
}

TEST_F(GraphTest, LeavesOutWhatTheTimesContradict) {
  job.launch(host, 0, main, "work", 10, 500);
  job.sync(host, 5, 20, "sync", {.kind = SyncKind::kStreamSync, .stream = main});
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_EQ(graph.edges_of(EdgeKind::kHostSync), 0U);
  EXPECT_EQ(diagnostics.count_of(kEdgeAgainstTime.code), 1);
}

TEST_F(GraphTest, VerifyFindsWorkWithoutLaunchAndEdgesBackInTime) {
  job.builder.add_kernel({main, job.builder.intern("orphan"), 0, 1'000, 77}, {});
  job.launch(host, 20, main, "ahead of its call", 10, 30);  // by 10 us: the clocks
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  const Verification found = verify(graph);
  EXPECT_EQ(found.device_work, 2U);
  EXPECT_EQ(found.without_launch, 1U);
  EXPECT_EQ(found.edges_back_in_time, 1U);
  EXPECT_EQ(found.furthest_back, 10'000);
  ASSERT_EQ(found.worst.size(), 1U);
  EXPECT_EQ(found.worst[0].kind, EdgeKind::kLaunch);
  EXPECT_TRUE(found.sound());
}

TEST_F(GraphTest, AnEmptyTraceHasAnEmptyGraph) {
  const Trace trace = job.build();
  const Graph graph(trace, diagnostics);
  EXPECT_EQ(graph.vertices(), 0U);
  EXPECT_TRUE(verify(graph).sound());
}

}  // namespace
}  // namespace interlace::graph
