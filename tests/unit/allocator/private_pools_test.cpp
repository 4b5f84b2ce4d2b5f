#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

constexpr PoolId kGraph{0, 1};
constexpr PoolId kMemPool{5, 0};
constexpr Stream kCapture = 44;

bool every_stream(Stream /*stream*/) { return true; }
bool capture_stream(Stream stream) { return stream == kCapture; }

Bytes reserved_in(const CachingAllocator& allocator, PoolId pool) {
  Bytes sum = 0;
  for (const ArenaUsage& arena : allocator.usage()) sum += arena.pool == pool ? arena.reserved : 0;
  return sum;
}

TEST(PrivatePools, TakeTheMallocsOfTheirRoute) {
  CachingAllocator a;
  a.free(take_block(a, 30 * kMiB, kCapture), 0);
  a.begin_allocate_to_pool(kGraph, capture_stream);
  EXPECT_TRUE(a.malloc(30 * kMiB, kCapture, 0).allocation->from_driver);
  take(a, 30 * kMiB, kSide);
  a.end_allocate_to_pool(kGraph);
  EXPECT_EQ(reserved_in(a, kGraph), 30 * kMiB);
  EXPECT_EQ(reserved_in(a, {}), 60 * kMiB);
  EXPECT_EQ(a.statistics().reserved_bytes.all.current, 90 * kMiB);
  EXPECT_FALSE(a.malloc(30 * kMiB, kCapture, 0).allocation->from_driver);
}

TEST(PrivatePools, TheRouteOpenedLastIsAskedFirst) {
  CachingAllocator a;
  a.begin_allocate_to_pool(kGraph, every_stream);
  a.begin_allocate_to_pool(kMemPool, every_stream);
  take(a, 512, 0);
  EXPECT_EQ(reserved_in(a, kMemPool), 2 * kMiB);
  a.end_allocate_to_pool(kMemPool);
  take(a, 512, 0);
  EXPECT_EQ(reserved_in(a, kGraph), 2 * kMiB);
}

TEST(PrivatePools, NothingIsPolledWhileARouteIsOpen) {
  CachingAllocator a;
  const BlockId before = take_block(a, 30 * kMiB, 0);
  const BlockId during = take_block(a, 30 * kMiB, 0);
  const std::vector<StreamUse> uses{{kSide, 10}};
  a.free(before, 5, uses);
  a.begin_allocate_to_pool(kGraph, capture_stream);
  a.free(during, 6, uses);
  take(a, 512, 0, 100);
  EXPECT_EQ(a.statistics().active_bytes.all.current, 60 * kMiB + 512);
  a.end_allocate_to_pool(kGraph);
  take(a, 512, 0, 101);
  EXPECT_EQ(a.statistics().active_bytes.all.current, 1024);
}

TEST(PrivatePools, NothingCachedIsReleasedWhileARouteIsOpen) {
  CachingAllocator a({}, DriverMemory({.total = 100 * kMiB}));
  a.free(take_block(a, 60 * kMiB, 0), 0);
  a.begin_allocate_to_pool(kGraph, capture_stream);
  const MallocResult result = a.malloc(60 * kMiB, kCapture, 0);
  EXPECT_FALSE(result.allocation);
  EXPECT_FALSE(result.synchronised);
  a.end_allocate_to_pool(kGraph);
  EXPECT_TRUE(a.malloc(60 * kMiB, kCapture, 0).allocation);
}

TEST(PrivatePools, KeepTheirMemoryWhileTheyHaveUsers) {
  CachingAllocator a;
  a.begin_allocate_to_pool(kGraph, every_stream);
  const BlockId block = take_block(a, 30 * kMiB, 0);
  a.end_allocate_to_pool(kGraph);
  a.free(block, 0);
  a.empty_cache(0);
  EXPECT_EQ(reserved_in(a, kGraph), 30 * kMiB);
  a.release_pool(kGraph);
  a.empty_cache(0);
  EXPECT_EQ(reserved_in(a, kGraph), 0);
}

TEST(PrivatePools, NoSplitGivesWholeSegments) {
  CachingAllocator a;
  a.set_pool_options(kMemPool, {.no_split = true});
  a.begin_allocate_to_pool(kMemPool, every_stream);
  EXPECT_EQ(a.malloc(512, 0, 0).allocation->size, 2 * kMiB);
}

TEST(PrivatePools, OverflowPoolsServeBeforeAnythingIsReleased) {
  CachingAllocator a({}, DriverMemory({.total = 100 * kMiB}));
  a.set_pool_options(kMemPool, {.use_on_oom = true});
  a.begin_allocate_to_pool(kMemPool, every_stream);
  const BlockId block = take_block(a, 60 * kMiB, 0);
  a.end_allocate_to_pool(kMemPool);
  a.free(block, 0);
  a.free(take_block(a, 30 * kMiB, 0), 0);
  const MallocResult result = a.malloc(50 * kMiB, 0, 0);
  ASSERT_TRUE(result.allocation);
  EXPECT_FALSE(result.synchronised);
  EXPECT_EQ(result.allocation->block, block);
  EXPECT_EQ(a.statistics().num_device_free, 0);
  EXPECT_FALSE(a.malloc(50 * kMiB, kSide, 0).allocation);  // the pool has nothing on that stream
}

TEST(PrivatePools, OneWithAnAllocatorOfItsOwnIsNeverExpandable) {
  Configuration configuration;
  configuration.expandable_segments = true;
  CachingAllocator a(configuration, DriverMemory({.total = kGiB}));
  a.set_pool_options(kMemPool, {.own_allocator = true});
  a.begin_allocate_to_pool(kMemPool, every_stream);
  take(a, 30 * kMiB, 0);
  a.end_allocate_to_pool(kMemPool);
  EXPECT_EQ(a.statistics().segment.all.current, 1);
  EXPECT_EQ(reserved_in(a, kMemPool), 30 * kMiB);
  a.begin_allocate_to_pool(kGraph, every_stream);
  take(a, 30 * kMiB, 0);
  EXPECT_EQ(reserved_in(a, kGraph), 40 * kMiB);
}

}  // namespace
}  // namespace interlace::allocator
