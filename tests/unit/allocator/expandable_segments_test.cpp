#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

CachingAllocator expandable(Bytes total = 80 * kGiB) {
  Configuration configuration;
  configuration.expandable_segments = true;
  return CachingAllocator(configuration, DriverMemory({.total = total}));
}

TEST(ExpandableSegments, GrowByWholePagesInOneRange) {
  CachingAllocator a = expandable();
  const Allocation first = take(a, 3 * kMiB);
  EXPECT_EQ(reserved(a), 20 * kMiB);
  const Allocation second = take(a, 30 * kMiB);  // 17 free at the end, 13 more: one page
  EXPECT_EQ(reserved(a), 40 * kMiB);
  EXPECT_EQ(second.address, first.address + 3 * kMiB);
  EXPECT_EQ(a.statistics().segment.all.current, 0);
  EXPECT_EQ(a.statistics().num_device_alloc, 2);
  take(a, 512);
  EXPECT_EQ(reserved(a), 42 * kMiB);  // small pages are 2 MiB
  take(a, 512, kSide);
  EXPECT_EQ(reserved(a), 44 * kMiB);
}

TEST(ExpandableSegments, LargeBlocksAreCutFrom512BytesOn) {
  CachingAllocator a = expandable();
  EXPECT_EQ(take(a, 11 * kMiB).size, 11 * kMiB);
  EXPECT_EQ(take(a, 9 * kMiB - 512).size, 9 * kMiB - 512);
  ASSERT_EQ(a.free_blocks({}, false, 0).size(), 1U);
  EXPECT_EQ(a.free_blocks({}, false, 0)[0].size, 512);
  EXPECT_EQ(a.statistics().inactive_split.all.current, 0);
}

// Of two blocks that fit, the one at the growing end counts as large as it may become.
TEST(ExpandableSegments, TheGrowingEndIsKeptForLast) {
  CachingAllocator a = expandable();
  const Allocation hole = take(a, 15 * kMiB);
  take(a, 15 * kMiB);  // 30 of 40 MiB: 10 MiB at the end
  a.free(hole.block, 0);
  EXPECT_EQ(take(a, 9 * kMiB).address, hole.address);
}

TEST(ExpandableSegments, EmptyCacheTakesWholePagesInsideFreeBlocks) {
  CachingAllocator a = expandable();
  const Allocation first = take(a, 5 * kMiB);
  const Allocation middle = take(a, 70 * kMiB);
  take(a, 5 * kMiB);  // [0, 5) [5, 75) [75, 80) of four pages
  ASSERT_EQ(reserved(a), 80 * kMiB);
  a.free(middle.block, 0);
  a.empty_cache(0);  // pages [20, 40) and [40, 60)
  EXPECT_EQ(reserved(a), 40 * kMiB);
  std::vector<Bytes> sizes;
  for (const BlockRecord& block : a.free_blocks({}, false, 0)) sizes.push_back(block.size);
  EXPECT_EQ(sizes, (std::vector<Bytes>{15 * kMiB, 15 * kMiB}));
  // The snapshot shows two ranges.
  const AllocatorState state = a.export_state();
  ASSERT_EQ(state.segments.size(), 2U);
  EXPECT_EQ(state.segments[0].size, 20 * kMiB);
  EXPECT_EQ(state.segments[1].address, first.address + 60 * kMiB);
  // A request of 20 MiB fits into the hole: 15 free before it, and one page more.
  const Allocation again = take(a, 20 * kMiB);
  EXPECT_EQ(again.address, first.address + 5 * kMiB);
  EXPECT_EQ(reserved(a), 60 * kMiB);
}

TEST(ExpandableSegments, OneWithoutMemoryIsGivenUp) {
  CachingAllocator a = expandable();
  a.free(take(a, 100 * kMiB).block, 0);
  a.empty_cache(0);
  EXPECT_EQ(reserved(a), 0);
  EXPECT_TRUE(a.export_state().segments.empty());
  take(a, 100 * kMiB, kSide);
  EXPECT_EQ(reserved(a), 100 * kMiB);
}

TEST(ExpandableSegments, MemoryOfOneStreamHelpsAnotherOnlyWhenItRunsOut) {
  CachingAllocator a = expandable(100 * kMiB);
  a.free(take(a, 60 * kMiB).block, 0);
  const MallocResult result = a.malloc(60 * kMiB, kSide, 0);
  ASSERT_TRUE(result.allocation);
  EXPECT_TRUE(result.synchronised);
  EXPECT_EQ(reserved(a), 60 * kMiB);
}

TEST(ExpandableSegments, WhatWasMappedBeforeTheDriverRefusedStays) {
  CachingAllocator a = expandable(80 * kMiB);
  take(a, 20 * kMiB);
  const Allocation hole = take(a, 20 * kMiB);
  const Allocation end = take(a, 20 * kMiB);
  a.free(hole.block, 0);
  a.empty_cache(0);
  a.free(end.block, 0);
  ASSERT_EQ(reserved(a), 40 * kMiB);
  // An open route keeps the allocator from releasing and trying again.
  a.begin_allocate_to_pool({0, 1}, [](Stream) { return false; });
  // The hole gets its page (60 of 80 MiB); the 40 MiB behind the free block are not there.
  EXPECT_FALSE(a.malloc(80 * kMiB, 0, 0).allocation);
  EXPECT_EQ(reserved(a), 60 * kMiB);
  EXPECT_EQ(take(a, 40 * kMiB).address, hole.address);
}

// The test for oversize blocks meets expandable ones too (PyTorch issue 123548): a large free block is no fit for a
// smaller request, and serves it only because the search for addresses starts at a free block before unmapped ones.
TEST(ExpandableSegments, WithMaxSplitSizeALargeFreeBlockServesOnlyAtTheGrowingEnd) {
  Configuration configuration;
  configuration.expandable_segments = true;
  configuration.max_split_size = 40 * kMiB;
  CachingAllocator a(configuration, DriverMemory({.total = 80 * kGiB}));
  const Allocation large = take(a, 100 * kMiB);
  const Allocation end = take(a, 20 * kMiB);
  a.free(large.block, 0);
  EXPECT_TRUE(take(a, 10 * kMiB).from_driver);
  EXPECT_EQ(reserved(a), 140 * kMiB);
  a.free(end.block, 0);  // now free from 0 to 120, and 10 more behind the new block
  const Allocation small = take(a, 10 * kMiB);
  EXPECT_EQ(small.address, end.address + 30 * kMiB);
  const Allocation next = take(a, 10 * kMiB);  // the end is used up: one more page, not the 120 MiB
  EXPECT_TRUE(next.from_driver);
  EXPECT_EQ(reserved(a), 160 * kMiB);
}

TEST(ExpandableSegments, ThoseOfAnEarlierSettingAreNotUsedWithoutIt) {
  SegmentRecord range{.address = 0x7f0000000000, .size = 40 * kMiB, .expandable = true};
  range.blocks = {{range.address, 40 * kMiB, 0, BlockStatus::kInactive}};
  CachingAllocator a;
  a.import_state({{range}}, "test");
  EXPECT_TRUE(take(a, 30 * kMiB).from_driver);
  EXPECT_EQ(reserved(a), 70 * kMiB);
}

TEST(ExpandableSegments, HaveNoRoomForMoreThanADeviceHas) {
  CachingAllocator a({.expandable_segments = true}, DriverMemory());
  EXPECT_FALSE(a.malloc(2 * DriverMemory::kLargestSegment, 0, 0).allocation);
  EXPECT_EQ(a.statistics().num_ooms, 1);
  EXPECT_TRUE(a.malloc(kMiB, 0, 0).allocation);
  // Below what a slot of addresses holds, and above what a device of unknown size is given.
  EXPECT_FALSE(a.malloc(700 * kGiB, 0, 0).allocation);
  EXPECT_TRUE(a.malloc(kMiB, 0, 0).allocation);
}

}  // namespace
}  // namespace interlace::allocator
