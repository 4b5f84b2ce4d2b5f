#include "simulator/trace/trace_builder.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace interlace::trace {
namespace {

class TraceBuilderTest : public ::testing::Test {
 protected:
  TraceBuilder builder;
  RankId rank = builder.add_rank({.number = 3, .source = "r3.json"});
  LaneId thread = builder.lane(LaneKind::kHostThread, rank, 100, 100);
  LaneId stream = builder.lane(LaneKind::kStream, rank, 0, 7);
  Diagnostics diagnostics;

  TraceBuilder::Common at(LaneId lane, std::string_view name, Nanoseconds start, Nanoseconds duration,
                          std::optional<std::int64_t> correlation = {}) {
    return {lane, builder.intern(name), start, duration, correlation};
  }
};

TEST_F(TraceBuilderTest, SortsByTimeAndLinksLaunches) {
  builder.add_kernel(at(stream, "gemm", 2'000, 500, 42), {.grid = {8, 2, 1}});
  builder.add_host_call(at(thread, "cudaLaunchKernel", 1'000, 10, 42));
  const Trace trace = std::move(builder).build(diagnostics);

  ASSERT_EQ(trace.size(), 2U);
  EXPECT_EQ(trace.origin(), 1'000);
  EXPECT_EQ(trace.length(), 1'500);
  EXPECT_EQ(trace.name({0}), "cudaLaunchKernel");
  EXPECT_EQ(trace.launch_of({1}), OperationId{0});
  ASSERT_EQ(trace.launched_by({0}).size(), 1U);
  EXPECT_EQ(trace.kernel({1})->blocks(), 16);
  EXPECT_EQ(trace.kernel({0}), nullptr);
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(TraceBuilderTest, ARangeComesBeforeWhatItHolds) {
  builder.add_host_call(at(thread, "call", 0, 1));
  builder.add_range(at(thread, "inner", 0, 5), {});
  builder.add_range(at(thread, "outer", 0, 9), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.name({0}), "outer");
  EXPECT_EQ(trace.name({1}), "inner");
  EXPECT_EQ(trace.name({2}), "call");
}

TEST_F(TraceBuilderTest, CountsDeviceWorkWithoutLaunchAndNegativeDurations) {
  builder.add_kernel(at(stream, "orphan", 0, -5, 9), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.duration({0}), 0);
  EXPECT_FALSE(trace.launch_of({0}).has_value());
  EXPECT_EQ(diagnostics.count_of("trace.device_work_without_launch"), 1);
  EXPECT_EQ(diagnostics.count_of("trace.negative_duration"), 1);
}

// A recording from elsewhere must not write to the terminal of who looks at it.
TEST_F(TraceBuilderTest, KeepsNoControlCharacters) {
  const StringId name = builder.intern("back\x1b[31m\nward");
  EXPECT_EQ(builder.intern("back\x1b[31m\nward"), name);
  EXPECT_EQ(builder.intern("back [31m ward"), name);
  builder.name_lane(stream, "main\x07");
  builder.add_rank({.number = 4, .source = "r4", .host_name = "a\x7f", .devices = {{.name = "H\t200"}}});
  builder.add_range({stream, name, 0, 1, {}}, {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.name({0}), "back [31m ward");
  EXPECT_EQ(trace.lane(stream).name, "main ");
  EXPECT_EQ(trace.ranks()[1].host_name, "a ");
  EXPECT_EQ(trace.ranks()[1].devices[0].name, "H 200");
}

TEST_F(TraceBuilderTest, CountsDeviceWorkThatStartsBeforeItsLaunchByMoreThanClocksDiffer) {
  for (const Nanoseconds early : {-5'000, 50'000, 50'001, 3'000'000}) {
    builder.add_host_call(at(thread, "cudaLaunchKernel", 10'000'000 + early, 5, early));
    builder.add_kernel(at(stream, "k", 10'000'000, 5, early), {});
  }
  static_cast<void>(std::move(builder).build(diagnostics));
  EXPECT_EQ(diagnostics.count_of("trace.device_work_before_launch"), 2);
}

TEST_F(TraceBuilderTest, FindsLaunchesWhoseWorkIsLost) {
  builder.add_host_call(at(thread, "cudaLaunchKernel", 0, 1, 1));
  builder.add_host_call(at(thread, "cudaLaunchKernelExC_v11060", 10, 5, 2));
  builder.add_host_call(at(thread, "cuLaunchKernelEx", 11, 2, 2));  // inside the call before it
  builder.add_host_call(at(thread, "cudaMemcpyAsync", 20, 1, 3));   // perhaps of no bytes
  builder.add_host_call(at(thread, "cudaEventQuery", 30, 1, 4));
  builder.add_host_call(at(thread, "cuLaunchKernel", 40, 1, 5));
  builder.add_kernel(at(stream, "k", 50, 1, 1), {});
  const Trace trace = std::move(builder).build(diagnostics);
  ASSERT_EQ(trace.launches_without_work().size(), 2U);
  EXPECT_EQ(trace.name(trace.launches_without_work()[0]), "cudaLaunchKernelExC_v11060");
  EXPECT_EQ(trace.name(trace.launches_without_work()[1]), "cuLaunchKernel");
  EXPECT_EQ(diagnostics.count_of("trace.launch_without_device_work"), 2);
}

TEST_F(TraceBuilderTest, FindsLaunchesOfHipWhoseWorkIsLost) {
  Nanoseconds time = 0;
  const auto call = [&](const char* name) { builder.add_host_call(at(thread, name, time += 10, 1, time)); };
  for (const char* const launch : {"hipLaunchKernel", "hipModuleLaunchKernel", "hipExtLaunchKernel",
                                   "hipExtModuleLaunchKernel", "hipLaunchCooperativeKernel"}) {
    call(launch);
  }
  for (const char* const other : {"hipMemcpyAsync", "hipGraphLaunch", "hipModuleLoad", "hip"}) call(other);
  for (const char* const captured : {"hipStreamBeginCapture", "hipLaunchKernel", "hipStreamEndCapture"}) call(captured);
  builder.add_kernel(at(stream, "k", 1'000, 1), {});
  const Trace trace = std::move(builder).build(diagnostics);
  ASSERT_EQ(trace.launches_without_work().size(), 5U);
  EXPECT_EQ(trace.name(trace.launches_without_work()[4]), "hipLaunchCooperativeKernel");
}

// A file joined with itself: the copies come behind all of the first.
TEST_F(TraceBuilderTest, DropsWhatIsThereTwice) {
  OperationId forward;
  for (int time = 0; time < 2; ++time) {
    builder.add_range(at(thread, "step", 0, 100), {.kind = RangeKind::kAnnotation});
    forward = builder.add_range(at(thread, "op", 0, 90), {.kind = RangeKind::kCpuOp, .sequence_number = 7});
    builder.add_host_call(at(thread, "cudaLaunchKernel", 1, 5, 42));
    builder.add_kernel(at(stream, "k", 10, 5, 42), {});
    // Only the second of the ranges knows what it is the backward of, and means the second of "op".
    const OperationId backward = builder.add_range(at(thread, "back", 95, 5), {});
    if (time == 1) builder.range_detail(backward).forward_op = forward;
    const Note note{.is_open = true};
    TraceBuilder::Common noted = at(thread, "open", 98, 1);
    noted.note = &note;
    builder.add_range(noted, {});
  }
  const Trace trace = std::move(builder).build(diagnostics);
  ASSERT_EQ(trace.size(), 6U);
  EXPECT_EQ(diagnostics.count_of("trace.duplicate_operation"), 6);
  EXPECT_EQ(diagnostics.entries().size(), 1U);
  EXPECT_EQ(trace.launched_by({2}).size(), 1U);
  EXPECT_EQ(trace.name({4}), "back");
  EXPECT_EQ(trace.range({4})->forward_op, OperationId{1});
  ASSERT_EQ(trace.notes().size(), 1U);
  EXPECT_EQ(trace.notes()[0].first, OperationId{5});
}

TEST_F(TraceBuilderTest, KeepsWhatOnlyLooksAlike) {
  builder.add_kernel(at(stream, "node", 0, 5, 1), {.graph_node = 1});
  builder.add_kernel(at(stream, "node", 0, 5, 1), {.graph_node = 2});
  builder.add_range(at(thread, "f", 0, 5), {.kind = RangeKind::kPython});
  builder.add_range(at(thread, "f", 0, 5), {.kind = RangeKind::kPython});
  for (const auto action : {AllocationAction::kAlloc, AllocationAction::kFree, AllocationAction::kAlloc}) {
    builder.add_allocation(at(thread, "[memory]", 9, 0), {.action = action, .address = 1, .bytes = 512});
  }
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.size(), 7U);
  EXPECT_EQ(diagnostics.count_of("trace.duplicate_operation"), 0);
}

TEST_F(TraceBuilderTest, WhatAGraphCapturesIsNotLost) {
  const LaneId autograd = builder.lane(LaneKind::kHostThread, rank, 100, 101);
  builder.add_host_call(at(thread, "cudaStreamBeginCapture_v10000", 0, 1, 1));
  builder.add_host_call(at(autograd, "cudaLaunchKernel", 10, 1, 2));
  builder.add_host_call(at(thread, "cudaStreamEndCapture_v10000", 20, 1, 3));
  builder.add_host_call(at(thread, "cudaLaunchKernel", 30, 1, 4));
  builder.add_kernel(at(stream, "k", 50, 1, 4), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_TRUE(trace.launches_without_work().empty());
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(TraceBuilderTest, ARankWithoutDeviceWorkLostNone) {
  builder.add_host_call(at(thread, "cudaLaunchKernel", 0, 1, 1));
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_TRUE(trace.launches_without_work().empty());
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(TraceBuilderTest, RenumbersReferencesBetweenOperations) {
  const OperationId wait = builder.add_sync(OperationKind::kStreamWait, at(thread, "wait", 50, 1), {});
  const OperationId record = builder.add_sync(OperationKind::kEventRecord, at(thread, "record", 10, 1), {});
  builder.sync_detail(wait).record = record;
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.sync({1})->record, OperationId{0});
}

TEST_F(TraceBuilderTest, CorrelationsOfRanksDoNotMix) {
  const RankId other = builder.add_rank({.number = 4});
  const LaneId other_thread = builder.lane(LaneKind::kHostThread, other, 100, 100);
  builder.add_host_call(at(other_thread, "other", 0, 1, 42));
  builder.add_host_call(at(thread, "mine", 5, 1, 42));
  builder.add_kernel(at(stream, "k", 10, 1, 42), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.name(*trace.launch_of({2})), "mine");
}

TEST_F(TraceBuilderTest, JoinsCorrelationsHoweverFarApart) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  builder.add_host_call(at(thread, "first", 0, 1, least));
  builder.add_host_call(at(thread, "second", 1, 1, most));
  builder.add_kernel(at(stream, "of second", 10, 1, most), {});
  builder.add_kernel(at(stream, "of first", 20, 1, least), {});
  builder.add_kernel(at(stream, "of none", 30, 1, 0), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.launch_of({2}), OperationId{1});
  EXPECT_EQ(trace.launch_of({3}), OperationId{0});
  EXPECT_EQ(trace.launch_of({4}), std::nullopt);
}

TEST_F(TraceBuilderTest, JoinsNothingBesideTheCorrelationsOfTheCalls) {
  builder.add_host_call(at(thread, "call", 0, 1, 5));
  builder.add_kernel(at(stream, "before", 10, 1, 4), {});
  builder.add_kernel(at(stream, "after", 20, 1, 6), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_TRUE(trace.launched_by({0}).empty());
  EXPECT_EQ(diagnostics.count_of("trace.device_work_without_launch"), 2);
  EXPECT_EQ(diagnostics.entries().at(0).first_place, "before");
}

TEST_F(TraceBuilderTest, TheEarlierOfTwoCallsKeepsTheirCorrelation) {
  builder.add_host_call(at(thread, "later", 5, 1, 42));
  builder.add_host_call(at(thread, "earlier", 0, 1, 42));
  builder.add_kernel(at(stream, "k", 10, 1, 42), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.name(*trace.launch_of({2})), "earlier");
  EXPECT_EQ(diagnostics.count_of("trace.duplicate_correlation"), 1);
}

TEST_F(TraceBuilderTest, WorkOfARankWithoutCallsHasNoLaunch) {
  builder.add_kernel(at(stream, "k", 10, 1, 0), {});
  const Trace trace = std::move(builder).build(diagnostics);
  EXPECT_EQ(trace.launch_of({0}), std::nullopt);
}

TEST_F(TraceBuilderTest, ListsEachLaneInOrder) {
  builder.add_kernel(at(stream, "b", 20, 1, 1), {});
  builder.add_kernel(at(stream, "a", 10, 1, 2), {});
  builder.add_host_call(at(thread, "t", 15, 1));
  const Trace trace = std::move(builder).build(diagnostics);
  const auto lane = trace.on_lane(stream);
  ASSERT_EQ(lane.size(), 2U);
  EXPECT_EQ(trace.name(lane[0]), "a");
  EXPECT_EQ(trace.name(lane[1]), "b");
}

}  // namespace
}  // namespace interlace::trace
