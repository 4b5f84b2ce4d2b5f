#include "simulator/analysis/memory_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::analysis {
namespace {

using enum trace::AllocationAction;
using trace::BlockState;

/// A rank's allocator events at times that the test gives.
class MemoryCurveTest : public testing::Test {
 protected:
  trace::TraceBuilder builder;
  trace::RankId rank = builder.add_rank({.number = 5});
  trace::LaneId thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
  trace::LaneId main = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  trace::LaneId copy = builder.lane(trace::LaneKind::kStream, rank, 0, 8);

  void SetUp() override { event(0, {.action = kRecordStream, .address = 999}); }  // time zero is the earliest start
  void event(Nanoseconds at, trace::AllocationDetail detail) {
    if (detail.action != kRecordStream && handles) detail.stream_handle = 9;
    builder.add_allocation({thread, builder.intern("[memory]"), at, 0, {}}, detail);
  }
  MemoryCurve curve() {
    Diagnostics none;
    const std::vector<MemoryCurve> all = memory_curves(std::move(builder).build(none));
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
  }
  /// Values at moments from `from` on.
  static std::vector<Bytes> from(const MemoryCurve& curve, const std::vector<Bytes>& values, Nanoseconds from) {
    const auto first = std::ranges::lower_bound(curve.at, from) - curve.at.begin();
    return {values.begin() + first, values.end()};
  }

  bool handles = false;
};

// Totals say 500 before the first event (510 after 10 were handed out). The block at 70 was there before, 30 bytes; the
// one at 80 was pending before, 5 bytes; so 500 - 30 neither come nor go.
TEST_F(MemoryCurveTest, TotalsThatEventsTellAreTheLevels) {
  event(10, {.address = 60, .bytes = 10, .total_allocated = 510, .total_reserved = 900, .stream = main});
  event(20, {.action = kFreeRequested, .address = 70, .bytes = 30, .total_allocated = 480, .stream = copy});
  event(30, {.action = kFreeCompleted, .address = 80, .bytes = 5, .total_allocated = 480, .stream = main});
  event(30, {.action = kFreeCompleted, .address = 70, .bytes = 30, .total_allocated = 480, .stream = copy});
  event(40, {.action = kFreeRequested, .address = 60, .bytes = 10, .total_allocated = 470, .stream = main});
  const MemoryCurve of = curve();
  EXPECT_EQ(of.rank, rank);
  EXPECT_EQ(from(of, of.allocated, 10), (std::vector<Bytes>{510, 480, 480, 470}));
  EXPECT_EQ(from(of, of.active, 10), (std::vector<Bytes>{515, 515, 480, 480}));
  EXPECT_EQ(from(of, of.reserved, 10), (std::vector<Bytes>{900, 900, 900, 900}));
  EXPECT_EQ(of.persistent, 470);
  ASSERT_EQ(of.pools.size(), 2U);
  EXPECT_EQ(of.pools[0].stream, std::optional(main));
  EXPECT_EQ(from(of, of.pools[0].allocated, 10), (std::vector<Bytes>{10, 10, 10, 0}));
  EXPECT_EQ(from(of, of.pools[1].allocated, 10), (std::vector<Bytes>{30, 0, 0, 0}));
  // At each moment: what is always there, and what the pools hold, is what is allocated.
  for (std::size_t i = 0; i < of.at.size(); ++i) {
    EXPECT_EQ(of.persistent + of.pools[0].allocated[i] + of.pools[1].allocated[i], of.allocated[i]);
  }
}

TEST_F(MemoryCurveTest, OfSegmentsAloneKnowsWhatIsReservedOnly) {
  event(10, {.action = kSegmentAlloc, .address = 60, .bytes = 100, .total_reserved = 100});
  event(20, {.action = kSegmentFree, .address = 60, .bytes = 100, .total_reserved = 0});
  const MemoryCurve of = curve();
  EXPECT_TRUE(of.allocated.empty());
  EXPECT_EQ(from(of, of.reserved, 10), (std::vector<Bytes>{100, 0}));
}

// The block that was there before has 512 bytes, of which 500 were asked for.
TEST_F(MemoryCurveTest, AFreeThatNamesWhatWasAskedForEndsTheWholeBlock) {
  event(10, {.address = 60, .bytes = 1'000, .total_allocated = 3'000});
  event(20, {.action = kFreeRequested, .address = 70, .bytes = 500, .total_allocated = 2'488});
  const MemoryCurve of = curve();
  ASSERT_EQ(of.blocks.size(), 2U);
  EXPECT_EQ(of.blocks[1].bytes, 512);
  EXPECT_EQ(of.persistent, 3'000 - 1'000 - 512);
}

// State: 100 allocated, 20 pending of 1000. Undone: the alloc of 60 at 20, the request of 20 at 10. So 60 at first.
TEST_F(MemoryCurveTest, AStateGivesLevelsWithoutTotals) {
  handles = true;
  event(10, {.action = kFreeRequested, .address = 50, .bytes = 20});
  event(20, {.address = 60, .bytes = 60});
  trace::AllocatorState state{.rank = rank, .time = 25};
  state.segments.push_back({.address = 0, .bytes = 1'000, .stream_handle = 9});
  state.segments.back().blocks = {{0, 40, 40, BlockState::kAllocated},
                                  {50, 20, 20, BlockState::kPendingFree},
                                  {60, 60, 60, BlockState::kAllocated}};
  builder.add_allocator_state(state);
  event(30, {.address = 200, .bytes = 7});  // behind the state
  event(30, {.action = kSegmentAlloc, .address = 5'000, .bytes = 2'000});
  handles = false;
  event(31, {.address = 61, .bytes = 77, .total_allocated = 9'999});  // a report that was not joined
  const MemoryCurve of = curve();
  EXPECT_EQ(of.at, (std::vector<Nanoseconds>{10, 20, 30}));
  EXPECT_EQ(of.allocated, (std::vector<Bytes>{40, 100, 107}));
  EXPECT_EQ(of.active, (std::vector<Bytes>{60, 120, 127}));
  EXPECT_EQ(of.reserved, (std::vector<Bytes>{1'000, 1'000, 3'000}));
  EXPECT_EQ(of.persistent, 40);
  ASSERT_EQ(of.pools.size(), 1U);
  EXPECT_EQ(of.pools[0].stream, std::nullopt);
  EXPECT_EQ(of.pools[0].handle, 9U);
}

TEST_F(MemoryCurveTest, BlocksLiveFromAllocToFree) {
  event(10, {.address = 60, .bytes = 10});
  event(20, {.action = kFree, .address = 60, .bytes = 10});
  event(30, {.address = 60, .bytes = 40});
  event(35, {.address = 90, .bytes = 50});
  event(40, {.action = kFree, .address = 70, .bytes = 30});
  event(45, {.address = 91, .bytes = 1'000, .on_device = false});
  const MemoryCurve of = curve();
  ASSERT_EQ(of.blocks.size(), 4U);
  const auto alive = [&](Nanoseconds t) {
    std::vector<Bytes> bytes;
    for (const std::size_t block : of.alive_at(t)) bytes.push_back(of.blocks[block].bytes);
    return bytes;
  };
  EXPECT_EQ(alive(5), (std::vector<Bytes>{30}));
  EXPECT_EQ(alive(10), (std::vector<Bytes>{30, 10}));
  EXPECT_EQ(alive(20), (std::vector<Bytes>{30})) << "given back at that very moment";
  EXPECT_EQ(alive(39), (std::vector<Bytes>{50, 40, 30}));
  EXPECT_EQ(alive(50), (std::vector<Bytes>{50, 40}));
  EXPECT_EQ(of.moment_at(-1), std::nullopt);
  EXPECT_EQ(of.at[of.moment_at(38).value()], 35);
  EXPECT_TRUE(of.active.empty()) << "nobody told when frees are complete";
  EXPECT_TRUE(of.reserved.empty());
  EXPECT_TRUE(of.pools.empty());
}

TEST(MemoryCurves, AreNoneWithoutAllocations) {
  trace::TraceBuilder builder;
  const auto rank = builder.add_rank({.number = 0});
  const auto stream = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  builder.add_kernel({stream, builder.intern("k"), 0, 5, {}}, {});
  Diagnostics none;
  EXPECT_TRUE(memory_curves(std::move(builder).build(none)).empty());
}

}  // namespace
}  // namespace interlace::analysis
