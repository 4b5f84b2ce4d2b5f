#include "simulator/analysis/memory.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::analysis {
namespace {

using trace::AllocationAction;
using trace::BlockState;

/// A rank's allocator events, a nanosecond apart.
class MemoryUseTest : public testing::Test {
 protected:
  trace::TraceBuilder builder;
  trace::RankId rank = builder.add_rank({.number = 5});
  trace::LaneId thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
  trace::LaneId stream = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  Nanoseconds now = 100;

  void event(trace::AllocationDetail detail) {
    builder.add_allocation({thread, builder.intern("[memory]"), now++, 0, {}}, detail);
  }
  void of_allocator(AllocationAction action, Bytes bytes) {
    event({.action = action, .bytes = bytes, .stream_handle = 9});
  }
  std::vector<MemoryUse> use() {
    Diagnostics none;
    return memory_use(std::move(builder).build(none));
  }
};

TEST_F(MemoryUseTest, ReportsAloneGiveTheHighestTotals) {
  event({.bytes = 10, .total_allocated = 50, .total_reserved = 200});
  event({.action = AllocationAction::kFree, .bytes = 10, .total_allocated = 40, .total_reserved = 300});
  event({.bytes = 10, .total_allocated = 1'000, .on_device = false});
  const auto all = use();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0], (MemoryUse{.rank = rank, .events = 2, .allocated_peak = 50, .reserved_peak = 300}));
}

// By hand, before the events and after each: allocated 300 400 300 300 300 500 200, active 400 500 500 300 300
// 500 500, reserved 1000 1000 1000 1000 1500 1500 1500.
TEST_F(MemoryUseTest, EventsAreUndoneFromTheState) {
  of_allocator(AllocationAction::kAlloc, 100);
  of_allocator(AllocationAction::kFreeRequested, 100);
  of_allocator(AllocationAction::kFreeCompleted, 200);
  of_allocator(AllocationAction::kSegmentAlloc, 500);
  of_allocator(AllocationAction::kAlloc, 200);
  event({.bytes = 77, .total_allocated = 9'999});  // a report that was not joined
  of_allocator(AllocationAction::kFreeRequested, 300);
  trace::AllocatorState state{.rank = rank, .time = now - 1, .settings = "max_split_size_mb:64"};
  state.segments.push_back({.address = 0, .bytes = 1'000, .stream_handle = 9});
  state.segments.back().blocks = {{0, 200, 200, BlockState::kAllocated}, {200, 800, 0, BlockState::kFree}};
  state.segments.push_back({.address = 2'000, .bytes = 500, .stream_handle = 8});
  state.segments.back().blocks = {{2'000, 300, 300, BlockState::kPendingFree}, {2'300, 200, 0, BlockState::kFree}};
  builder.add_allocator_state(state);
  builder.add_allocator_state({.rank = rank, .time = 50});  // an earlier one, of an empty allocator
  builder.set_handle(stream, 9);
  of_allocator(AllocationAction::kAlloc, 5'000);  // after the state

  const auto all = use();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].events, 8);
  EXPECT_EQ(all[0].joined, 0);
  EXPECT_EQ(all[0].allocated_peak, 500);
  EXPECT_EQ(all[0].active_peak, 500);
  EXPECT_EQ(all[0].reserved_peak, 1'500);
  EXPECT_EQ(all[0].settings, "max_split_size_mb:64");
  const std::vector<StreamMemory> streams{
      {.handle = 8, .stream = {}, .segments = 1, .reserved = 500, .allocated = 0, .pending = 300},
      {.handle = 9, .stream = stream, .segments = 1, .reserved = 1'000, .allocated = 200, .pending = 0}};
  EXPECT_EQ(all[0].streams, streams);
}

TEST_F(MemoryUseTest, JoinedEventsAreCounted) {
  event({.bytes = 10, .total_allocated = 50, .stream_handle = 1});
  event({.action = AllocationAction::kFreeCompleted, .bytes = 10, .stream_handle = 1});
  EXPECT_EQ(use()[0].joined, 1);
}

TEST_F(MemoryUseTest, AbsurdSizesDoNotOverflow) {
  for (int i = 0; i < 3; ++i) {
    of_allocator(AllocationAction::kFreeRequested, std::numeric_limits<Bytes>::max());
    of_allocator(AllocationAction::kAlloc, std::numeric_limits<Bytes>::min());
  }
  builder.add_allocator_state({.rank = rank});
  EXPECT_EQ(use()[0].allocated_peak, std::numeric_limits<Bytes>::max());
}

TEST_F(MemoryUseTest, ARankWithoutMemoryHasNone) { EXPECT_TRUE(use().empty()); }

}  // namespace
}  // namespace interlace::analysis
