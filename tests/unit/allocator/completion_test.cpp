#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

constexpr Stream kMain = 0;
constexpr Stream kOther = 22;
constexpr Bytes kSize = 30 * kMiB;

class CompletionOf : public testing::Test {
 protected:
  static Allocation take(CachingAllocator& allocator, Nanoseconds now, Bytes size = kSize, Stream stream = kMain) {
    return *allocator.malloc(size, stream, now).allocation;
  }
  static void free(CachingAllocator& allocator, const Allocation& block, Nanoseconds now, std::vector<StreamUse> uses) {
    allocator.free(block.block, now, uses);
  }
  static Bytes active(const CachingAllocator& allocator) { return allocator.statistics().active_bytes.all.current; }
  static Bytes allocated(const CachingAllocator& allocator) {
    return allocator.statistics().allocated_bytes.all.current;
  }
};

TEST_F(CompletionOf, AUsedBlockWaitsForItsStreamAndIsSeenAtALaterMalloc) {
  CachingAllocator allocator;
  const Allocation block = take(allocator, 0);
  free(allocator, block, 10, {{kSide, 100}});
  EXPECT_EQ(allocated(allocator), 0);
  EXPECT_EQ(active(allocator), kSize);
  EXPECT_EQ(allocator.statistics().requested_bytes.all.current, kSize);
  EXPECT_TRUE(take(allocator, 99).from_driver);
  EXPECT_EQ(active(allocator), 2 * kSize);
  const Allocation again = take(allocator, 100);
  EXPECT_FALSE(again.from_driver);
  EXPECT_EQ(again.address, block.address);
  EXPECT_EQ(active(allocator), 2 * kSize);
}

TEST_F(CompletionOf, UsesByTheOwnStreamDoNotCount) {
  CachingAllocator allocator;
  const Allocation block = take(allocator, 0);
  free(allocator, block, 10, {{kMain, 1'000}});
  EXPECT_EQ(active(allocator), 0);
}

TEST_F(CompletionOf, AllStreamsMustBeDone) {
  CachingAllocator allocator;
  const Allocation block = take(allocator, 0);
  free(allocator, block, 10, {{kSide, 100}, {kOther, 300}, {kSide, 200}});
  take(allocator, 299, 512);
  EXPECT_EQ(active(allocator), kSize + 512);
  take(allocator, 300, 512);
  EXPECT_EQ(active(allocator), 1024);
}

TEST_F(CompletionOf, AnUnfinishedEventHidesThoseBehindItOnItsStreamOnly) {
  CachingAllocator allocator;
  const Allocation a = take(allocator, 0);
  const Allocation b = take(allocator, 0);
  const Allocation c = take(allocator, 0);
  free(allocator, a, 1, {{kSide, 500}});
  free(allocator, b, 2, {{kSide, 100}});  // cannot really be done before a's; seen only after it in any case
  free(allocator, c, 3, {{kOther, 100}});
  take(allocator, 200, 512);
  EXPECT_EQ(active(allocator), 2 * kSize + 512);
  take(allocator, 500, 512);
  EXPECT_EQ(active(allocator), 1024);
}

TEST_F(CompletionOf, APendingNeighbourStopsMerging) {
  CachingAllocator allocator;
  const Allocation a = take(allocator, 0, 512);
  const Allocation b = take(allocator, 0, 512);
  free(allocator, b, 1, {{kSide, 100}});
  free(allocator, a, 2, {});
  EXPECT_EQ(allocator.free_blocks({}, true, kMain).size(), 2U);  // a, and the rest of the segment behind b
  take(allocator, 100, kMiB);
  EXPECT_EQ(allocator.free_blocks({}, true, kMain).size(), 1U);
}

TEST_F(CompletionOf, NextMallocIgnoresTheTimes) {
  CachingAllocator allocator({}, DriverMemory{}, Completion::kNextMalloc);
  free(allocator, take(allocator, 0), 10, {{kSide, 1'000'000}});
  EXPECT_EQ(active(allocator), kSize);
  EXPECT_FALSE(take(allocator, 11).from_driver);
}

TEST_F(CompletionOf, SynchroniseIgnoresTheTimes) {
  CachingAllocator allocator({}, DriverMemory{}, Completion::kSynchronise);
  free(allocator, take(allocator, 0), 10, {{kSide, 20}});
  EXPECT_TRUE(take(allocator, 1'000'000).from_driver);
  allocator.synchronise();
  EXPECT_EQ(active(allocator), 2 * kSize);  // nothing polls
  EXPECT_FALSE(take(allocator, 1'000'001).from_driver);
}

TEST_F(CompletionOf, SynchroniseEndsTimedEventsToo) {
  CachingAllocator allocator;
  free(allocator, take(allocator, 0), 10, {{kSide, 1'000'000}});
  allocator.synchronise();
  EXPECT_FALSE(take(allocator, 20).from_driver);
}

TEST_F(CompletionOf, DrivenBlocksWaitForComplete) {
  CachingAllocator allocator({}, DriverMemory{}, Completion::kDriven);
  const Allocation block = take(allocator, 0);
  free(allocator, block, 10, {});
  EXPECT_TRUE(take(allocator, 1'000'000).from_driver);
  allocator.synchronise();
  EXPECT_TRUE(take(allocator, 1'000'000).from_driver);
  allocator.complete(block.block, 1'000'001);
  EXPECT_FALSE(take(allocator, 1'000'002).from_driver);
}

TEST_F(CompletionOf, EmptyCacheWaitsForTheLastStream) {
  CachingAllocator allocator;
  EXPECT_FALSE(allocator.empty_cache(0));
  free(allocator, take(allocator, 0), 10, {{kSide, 700}, {kOther, 400}});
  EXPECT_EQ(allocator.empty_cache(20), 700);
  EXPECT_EQ(active(allocator), 0);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.current, 0);
  EXPECT_EQ(allocator.statistics().num_sync_all_streams, 2);
}

TEST_F(CompletionOf, HistoryHasPyTorchsOrder) {
  CachingAllocator allocator;
  std::vector<Action> actions;
  allocator.observe([&](const TraceEntry& entry) { actions.push_back(entry.action); });
  const Allocation block = take(allocator, 0);
  free(allocator, block, 10, {{kSide, 20}});
  take(allocator, 30, 2 * kSize);
  allocator.empty_cache(40);
  EXPECT_EQ(actions, (std::vector{Action::kSegmentAlloc, Action::kAlloc, Action::kFreeRequested, Action::kFreeCompleted,
                                  Action::kSegmentAlloc, Action::kAlloc, Action::kSegmentFree}));
}

}  // namespace
}  // namespace interlace::allocator
