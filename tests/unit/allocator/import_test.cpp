#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

AllocatorState state_of(CachingAllocator& a) {
  const auto first = a.malloc(5 * kMiB, 0, 0).allocation;
  a.malloc(700, 0, 0);
  a.malloc(20 * kMiB, kSide, 0);
  const auto last = a.malloc(3 * kMiB, 0, 0).allocation;
  a.malloc(2 * kMiB, 0, 0);
  a.free(first->block, 0);
  const std::vector<StreamUse> uses{{kSide, 50}};
  a.free(last->block, 0, uses);
  return a.export_state();
}

TEST(ImportedState, ComesOutAgain) {
  CachingAllocator original;
  const AllocatorState state = state_of(original);
  CachingAllocator copy;
  const auto live = copy.import_state(state, "test");
  EXPECT_EQ(copy.export_state(), state);
  EXPECT_EQ(live.size(), 4U);
  const Statistics& a = original.statistics();
  const Statistics& b = copy.statistics();
  EXPECT_EQ(a.allocated_bytes.all.current, b.allocated_bytes.all.current);
  EXPECT_EQ(a.active_bytes.large_pool.current, b.active_bytes.large_pool.current);
  EXPECT_EQ(a.requested_bytes.all.current, b.requested_bytes.all.current);
  EXPECT_EQ(a.reserved_bytes.small_pool.current, b.reserved_bytes.small_pool.current);
  EXPECT_EQ(a.inactive_split.all.current, b.inactive_split.all.current);
  EXPECT_EQ(a.inactive_split_bytes.all.current, b.inactive_split_bytes.all.current);
  EXPECT_EQ(a.segment.all.current, b.segment.all.current);
}

BlockId pending(const std::vector<ImportedBlock>& live) {
  for (const ImportedBlock& block : live) {
    if (block.record.status == BlockStatus::kPendingFree) return block.block;
  }
  ADD_FAILURE();
  return {};
}

TEST(ImportedState, PendingBlocksWaitForWhatTheyAreTold) {
  CachingAllocator original;
  const AllocatorState state = state_of(original);
  const auto active = [](const CachingAllocator& a) { return a.statistics().active_bytes.large_pool.current; };
  CachingAllocator timed;
  const BlockId block = pending(timed.import_state(state, "test"));
  const std::vector<StreamUse> uses{{kSide, 50}};
  timed.expect_events(block, uses);
  timed.malloc(512, 0, 49);
  EXPECT_EQ(active(timed), 25 * kMiB);
  timed.malloc(512, 0, 50);
  EXPECT_EQ(active(timed), 22 * kMiB);

  CachingAllocator synchronised;
  synchronised.import_state(state, "test");
  synchronised.malloc(512, 0, 1'000);
  EXPECT_EQ(active(synchronised), 25 * kMiB);
  synchronised.synchronise();
  synchronised.malloc(512, 0, 1'001);
  EXPECT_EQ(active(synchronised), 22 * kMiB);

  CachingAllocator next({}, DriverMemory{}, Completion::kNextMalloc);
  next.import_state(state, "test");
  next.malloc(512, 0, 0);
  EXPECT_EQ(active(next), 22 * kMiB);

  CachingAllocator driven({}, DriverMemory{}, Completion::kDriven);
  driven.complete(pending(driven.import_state(state, "test")), 0);
  EXPECT_EQ(active(driven), 22 * kMiB);
}

TEST(ImportedState, CountsAgainstTheCapacity) {
  CachingAllocator original;
  const AllocatorState state = state_of(original);  // 20 + 20 + 2 MiB
  CachingAllocator copy({}, DriverMemory({.total = 60 * kMiB}));
  copy.import_state(state, "test");
  EXPECT_EQ(copy.memory().free(), 18 * kMiB);
  EXPECT_FALSE(copy.malloc(30 * kMiB, kSide, 0).allocation);
}

TEST(ImportedState, ExpandableRangesOfOneStreamAreOneSegment) {
  Configuration configuration;
  configuration.expandable_segments = true;
  CachingAllocator original(configuration, DriverMemory({.total = kGiB}));
  const auto head = original.malloc(10 * kMiB, 0, 0).allocation;
  const auto hole = original.malloc(70 * kMiB, 0, 0).allocation;
  original.malloc(10 * kMiB, 0, 0);
  original.free(hole->block, 0);
  original.empty_cache(0);
  const AllocatorState state = original.export_state();
  ASSERT_EQ(state.segments.size(), 2U);
  CachingAllocator copy(configuration, DriverMemory({.total = kGiB}));
  copy.import_state(state, "test");
  EXPECT_EQ(copy.export_state(), state);
  // The gap between them takes memory again, and the end grows.
  EXPECT_EQ(copy.malloc(60 * kMiB, 0, 0).allocation->address, original.malloc(60 * kMiB, 0, 0).allocation->address);
  EXPECT_EQ(copy.malloc(90 * kMiB, 0, 0).allocation->address, original.malloc(90 * kMiB, 0, 0).allocation->address);
  EXPECT_EQ(copy.export_state(), original.export_state());
  EXPECT_EQ(head->address, state.segments[0].address);
}

std::string_view refusal_of(const AllocatorState& state) {
  try {
    CachingAllocator().import_state(state, "test");
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

TEST(ImportedState, MustBeTiled) {
  SegmentRecord segment{.address = 4096, .size = 2048};
  segment.blocks = {{4096, 1024, 1024, BlockStatus::kAllocated}, {5120, 1024, 0, BlockStatus::kInactive}};
  EXPECT_EQ(refusal_of({{segment}}), "");
  EXPECT_EQ(refusal_of({{segment, segment}}), kBadState.name);
  SegmentRecord gap = segment;
  gap.blocks[1].address += 512;
  EXPECT_EQ(refusal_of({{gap}}), kBadState.name);
  SegmentRecord brief = segment;
  brief.blocks.pop_back();
  EXPECT_EQ(refusal_of({{brief}}), kBadState.name);
  SegmentRecord empty = segment;
  empty.size = 0;
  empty.blocks.clear();
  EXPECT_EQ(refusal_of({{empty}}), kBadState.name);
}

}  // namespace
}  // namespace interlace::allocator
