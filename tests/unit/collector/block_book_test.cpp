#include "cupti_collector/block_book.hpp"

#include <gtest/gtest.h>

#include "cupti_collector/allocator_log.hpp"

namespace interlace::collector {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr std::uint64_t kBase = 1U << 30U;

TEST(BlockBook, SplitsByTheAllocatorsRules) {
  BlockBook book({});
  book.map(kBase, 2 * kMiB, 0, false);
  EXPECT_EQ(book.allocate(kBase, 1), 512);
  EXPECT_EQ(book.allocate(kBase + 512, 1000), 1024);
  // A large request leaves more than 1 MiB, or nothing.
  book.map(2 * kBase, 20 * kMiB, 0, false);
  EXPECT_EQ(book.allocate(2 * kBase, 18 * kMiB), 18 * kMiB);
  book.map(3 * kBase, 20 * kMiB, 0, false);
  EXPECT_EQ(book.allocate(3 * kBase, 19 * kMiB), 20 * kMiB);
  // In an expandable segment, any remainder is split off.
  book.map(4 * kBase, 20 * kMiB, 0, true);
  EXPECT_EQ(book.allocate(4 * kBase, 19 * kMiB), 19 * kMiB);
  EXPECT_EQ(book.allocated(), 512 + 1024 + 18 * kMiB + 20 * kMiB + 19 * kMiB);
  EXPECT_EQ(book.reserved(), 62 * kMiB);
  EXPECT_TRUE(book.is_consistent());
}

TEST(BlockBook, JoinsFreeNeighboursOfOneSegment) {
  BlockBook book({});
  book.map(kBase, 2 * kMiB, 0, false);
  book.map(kBase + 2 * kMiB, 20 * kMiB, 0, false);  // right behind it, but another segment
  EXPECT_EQ(book.allocate(kBase, 512), 512);
  EXPECT_EQ(book.allocate(kBase + 512, 512), 512);
  for (const std::uint64_t address : {kBase, kBase + 512}) {
    EXPECT_EQ(book.request_free(address), 512);
    EXPECT_EQ(book.complete_free(address), 512);
  }
  book.unmap(kBase, 2 * kMiB);  // it is one free block again
  EXPECT_TRUE(book.is_consistent());
  EXPECT_EQ(book.reserved(), 20 * kMiB);
}

TEST(BlockBook, KeepsAPendingBlockApart) {
  BlockBook book({});
  book.map(kBase, 2 * kMiB, 0, false);
  static_cast<void>(book.allocate(kBase, 512));
  static_cast<void>(book.request_free(kBase));
  EXPECT_EQ(book.allocated(), 0);
  EXPECT_EQ(book.allocate(kBase, 512), std::nullopt) << "it is still in use";
  EXPECT_FALSE(book.is_consistent());
}

TEST(BlockBook, GrowsAndShrinksExpandableSegments) {
  BlockBook book({});
  book.map(kBase, 2 * kMiB, 5, true);
  book.map(kBase + 2 * kMiB, 4 * kMiB, 5, true);
  EXPECT_EQ(book.allocate(kBase, 6 * kMiB), 6 * kMiB) << "one block of both parts";
  static_cast<void>(book.request_free(kBase));
  static_cast<void>(book.complete_free(kBase));
  book.unmap(kBase + 2 * kMiB, 2 * kMiB);
  EXPECT_EQ(book.allocate(kBase, 2 * kMiB), 2 * kMiB);
  EXPECT_EQ(book.allocate(kBase + 4 * kMiB, 2 * kMiB), 2 * kMiB);
  EXPECT_TRUE(book.is_consistent());
}

TEST(BlockBook, FollowsSettings) {
  BlockBook limited(block_settings(" max_split_size_mb: 32, expandable_segments:False"));
  limited.map(kBase, 64 * kMiB, 0, false);
  EXPECT_EQ(limited.allocate(kBase, 40 * kMiB), 64 * kMiB) << "it is not to be split";
  BlockBook rounded(block_settings("roundup_power2_divisions:4"));
  rounded.map(kBase, 64 * kMiB, 0, false);
  EXPECT_EQ(rounded.allocate(kBase, 40 * kMiB), std::nullopt);
}

TEST(AllocatorLog, OrdersEventsOfThreadsByTime) {
  AllocatorLog log;
  log.begin("", true);
  const auto event = [](hook::Action action, std::uint64_t address, std::uint64_t bytes) {
    return hook::Event{.address = address, .bytes = bytes, .action = action};
  };
  // Read thread by thread.
  log.add(1, 30, event(hook::Action::kFreeRequested, kBase, 100));
  log.add(1, 40, event(hook::Action::kSnapshot, 0, 0));
  log.add(2, 10, event(hook::Action::kSegmentAlloc, kBase, 2 << 20));
  log.add(2, 20, event(hook::Action::kAlloc, kBase, 100));
  log.add(2, 90, event(hook::Action::kFreeCompleted, kBase, 100));
  const auto first = log.take(40);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[1].block, 512);
  EXPECT_EQ(first[1].allocated, 512);
  EXPECT_EQ(first[2].allocated, 0);
  const auto rest = log.take(100);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[1].block, 512);
  EXPECT_EQ(log.take_snapshot_times(), std::vector<Nanoseconds>{40});
  EXPECT_TRUE(log.take_snapshot_times().empty());
}

}  // namespace
}  // namespace interlace::collector
