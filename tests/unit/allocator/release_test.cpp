#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

DriverMemory of(Bytes total) { return DriverMemory({.total = total}); }

TEST(OutOfMemory, CachedSegmentsOfAllStreamsAreGivenBackFirst) {
  CachingAllocator allocator({}, of(100 * kMiB));
  allocator.free(take_block(allocator, 40 * kMiB, 0), 0);
  allocator.free(take_block(allocator, 30 * kMiB, kSide), 0);
  take(allocator, 512, 0);
  const MallocResult result = allocator.malloc(90 * kMiB, 0, 10);
  ASSERT_TRUE(result.allocation);
  EXPECT_TRUE(result.synchronised);
  EXPECT_FALSE(result.waited_until);  // no event was outstanding
  EXPECT_EQ(reserved(allocator), 92 * kMiB);
  EXPECT_EQ(allocator.statistics().num_alloc_retries, 1);
  EXPECT_EQ(allocator.statistics().num_ooms, 0);
  EXPECT_EQ(allocator.statistics().num_device_free, 2);
}

TEST(OutOfMemory, WaitsForPendingBlocksAndSaysUntilWhen) {
  CachingAllocator allocator({}, of(100 * kMiB));
  const std::vector<StreamUse> uses{{kSide, 900}};
  allocator.free(take_block(allocator, 60 * kMiB), 5, uses);
  const MallocResult result = allocator.malloc(80 * kMiB, 0, 10);
  ASSERT_TRUE(result.allocation);
  EXPECT_EQ(result.waited_until, 900);
}

TEST(OutOfMemory, IsReportedWithWhatTheDriverHas) {
  CachingAllocator allocator({}, DriverMemory({.total = 100 * kMiB, .held_by_others = 10 * kMiB}));
  std::vector<TraceEntry> history;
  allocator.observe([&](const TraceEntry& entry) { history.push_back(entry); });
  take(allocator, 60 * kMiB);
  EXPECT_FALSE(allocator.malloc(40 * kMiB + 1, 0, 7).allocation);
  EXPECT_EQ(history.back(), (TraceEntry{Action::kOom, 30 * kMiB, 40 * kMiB + 512, 0, {}, 7}));
  EXPECT_EQ(allocator.statistics().num_ooms, 1);
  EXPECT_EQ(allocator.statistics().num_alloc_retries, 1);
}

// PyTorch issue 189504: what the synchronising completes inside a partly used segment is not looked at again.
TEST(OutOfMemory, ABlockCompletedByTheRetryIsMissedAndFoundTheNextTime) {
  CachingAllocator allocator({}, of(20 * kMiB));
  const BlockId first = take_block(allocator, 8 * kMiB);
  take(allocator, 4 * kMiB);
  take(allocator, 8 * kMiB - 512);
  const std::vector<StreamUse> uses{{kSide, 900}};
  allocator.free(first, 5, uses);
  EXPECT_FALSE(allocator.malloc(8 * kMiB, 0, 10).allocation);
  const MallocResult again = allocator.malloc(8 * kMiB, 0, 11);
  ASSERT_TRUE(again.allocation);
  EXPECT_FALSE(again.allocation->from_driver);
}

TEST(MemoryFraction, IsACap) {
  Configuration half;
  half.per_process_memory_fraction = 0.5;
  CachingAllocator allocator(half, of(100 * kMiB));
  take(allocator, 40 * kMiB);
  EXPECT_FALSE(allocator.malloc(12 * kMiB, 0, 0).allocation);
  EXPECT_TRUE(allocator.malloc(10 * kMiB, 0, 0).allocation);
}

TEST(MemoryFraction, NeedsTheSizeOfTheDevice) {
  Configuration half;
  half.per_process_memory_fraction = 0.5;
  try {
    const CachingAllocator allocator(half);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "allocator.unknown_capacity");
  }
}

class GarbageCollection : public testing::Test {
 protected:
  // Cap 100 MiB, threshold 50 MiB.
  static CachingAllocator allocator() {
    Configuration configuration;
    configuration.per_process_memory_fraction = 0.5;
    configuration.garbage_collection_threshold = 0.5;
    return CachingAllocator(configuration, of(200 * kMiB));
  }
};

TEST_F(GarbageCollection, ReleasesBlocksOfAtLeastMeanAge) {
  CachingAllocator a = allocator();
  const BlockId old_block = take_block(a, 20 * kMiB);
  const BlockId young_block = take_block(a, 30 * kMiB, kSide);
  a.free(old_block, 0);  // age base 2: two searches so far
  // Four more searches; a cached segment of 12 MiB.
  for (int i = 0; i < 4; ++i) a.free(take_block(a, 12 * kMiB, 33), 0);
  a.free(young_block, 0);  // age base 6
  ASSERT_EQ(reserved(a), 62 * kMiB);
  // The next miss is the seventh search: ages 5 (20 MiB), 1 (30 MiB) and 1 (12 MiB). Target 62 - 50 = 12 MiB. Mean 7/3:
  // only the old one goes, and that is enough.
  take(a, 14 * kMiB, 44);
  EXPECT_EQ(reserved(a), 62 * kMiB - 20 * kMiB + 14 * kMiB);
  EXPECT_EQ(a.statistics().num_sync_all_streams, 0);
}

TEST_F(GarbageCollection, GoesOnRoundByRoundUntilEnoughIsReleased) {
  CachingAllocator a = allocator();
  const BlockId first = take_block(a, 12 * kMiB, 1);
  const BlockId second = take_block(a, 40 * kMiB, 2);
  const BlockId third = take_block(a, 30 * kMiB, 3);
  a.free(first, 0);
  a.free(take_block(a, 12 * kMiB, 1), 0);
  a.free(second, 0);
  a.free(third, 0);
  // Bases: first 4 (freed again), second 4, third 4; next search is the fifth: all of age 1 = mean: all go at once,
  // although the target of 82 - 50 = 32 MiB is met by two of them.
  take(a, 14 * kMiB, 4);
  EXPECT_EQ(reserved(a), 14 * kMiB);
}

TEST_F(GarbageCollection, LeavesSplitSegmentsAndTheSmallPoolAlone) {
  CachingAllocator a = allocator();
  a.free(take_block(a, 512), 0);
  const BlockId part = take_block(a, 2 * kMiB);
  take(a, 2 * kMiB);
  a.free(part, 0);
  take(a, 40 * kMiB);
  ASSERT_EQ(reserved(a), 62 * kMiB);
  take(a, 14 * kMiB, kSide);
  EXPECT_EQ(reserved(a), 76 * kMiB);
}

TEST_F(GarbageCollection, DoesNothingBelowTheThreshold) {
  CachingAllocator a = allocator();
  a.free(take_block(a, 36 * kMiB), 0);
  take(a, 14 * kMiB, kSide);
  ASSERT_EQ(reserved(a), 50 * kMiB);
  take(a, 10 * kMiB, kSide);
  EXPECT_EQ(reserved(a), 60 * kMiB);
}

class OversizeRelease : public testing::Test {
 protected:
  static CachingAllocator allocator(Bytes total) {
    Configuration configuration;
    configuration.max_split_size = 20 * kMiB;
    return CachingAllocator(configuration, of(total));
  }
};

TEST_F(OversizeRelease, OneLargeEnoughBlockGoesWithoutSynchronising) {
  CachingAllocator a = allocator(200 * kMiB);
  a.free(take_block(a, 100 * kMiB), 0);
  a.free(take_block(a, 70 * kMiB, kSide), 0);
  const MallocResult result = a.malloc(60 * kMiB, 0, 0);  // 100 >= 60 + 20: not for reuse
  ASSERT_TRUE(result.allocation);
  EXPECT_FALSE(result.synchronised);
  EXPECT_EQ(reserved(a), 130 * kMiB);
}

TEST_F(OversizeRelease, ElseTheLargestOfTheStreamUntilItIsEnough) {
  CachingAllocator a = allocator(200 * kMiB);
  const std::vector<BlockId> blocks{take_block(a, 60 * kMiB), take_block(a, 50 * kMiB), take_block(a, 40 * kMiB),
                                    take_block(a, 30 * kMiB, kSide)};
  for (const BlockId block : blocks) a.free(block, 0);
  const MallocResult result = a.malloc(100 * kMiB, 0, 0);
  ASSERT_TRUE(result.allocation);
  EXPECT_FALSE(result.synchronised);
  EXPECT_EQ(reserved(a), 170 * kMiB);  // 60 and 50 went, 40 and the other stream's 30 stayed
}

TEST_F(OversizeRelease, IfItIsNotEnoughEverythingGoes) {
  CachingAllocator a = allocator(100 * kMiB);
  a.free(take_block(a, 30 * kMiB), 0);
  a.free(take_block(a, 60 * kMiB, kSide), 0);
  const MallocResult result = a.malloc(80 * kMiB, 0, 0);
  ASSERT_TRUE(result.allocation);
  EXPECT_TRUE(result.synchronised);
  EXPECT_EQ(reserved(a), 80 * kMiB);
}

TEST(Usage, ShowsWhatEachStreamHolds) {
  CachingAllocator allocator;
  allocator.free(take_block(allocator, 30 * kMiB, kSide, 10), 11);
  take(allocator, 3 * kMiB, 0, 20);
  take(allocator, 512, 0, 21);
  const auto usage = allocator.usage();
  ASSERT_EQ(usage.size(), 3U);
  EXPECT_TRUE(usage[0].small);
  EXPECT_EQ(usage[1].stream, 0U);
  EXPECT_EQ(usage[1].reserved, 20 * kMiB);
  EXPECT_EQ(usage[1].allocated, 3 * kMiB);
  EXPECT_EQ(usage[1].largest_free, 17 * kMiB);
  EXPECT_EQ(usage[2].free(), 30 * kMiB);
  EXPECT_EQ(reserved_bytes(usage, 0), 22 * kMiB);
  EXPECT_EQ(reserved_bytes(usage, kSide), 30 * kMiB);
  EXPECT_EQ(stranded_bytes(usage, 10), 0);
  EXPECT_EQ(stranded_bytes(usage, 11), 30 * kMiB);
  EXPECT_EQ(largest_free_block(usage), 30 * kMiB);
}

}  // namespace
}  // namespace interlace::allocator
