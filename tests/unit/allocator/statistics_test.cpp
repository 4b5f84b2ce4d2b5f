#include "simulator/allocator/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "simulator/allocator/caching_allocator.hpp"

namespace interlace::allocator {
namespace {

TEST(AllocatorStatistics, HavePyTorchsNamesAndMeaning) {
  CachingAllocator allocator;
  const auto first = allocator.malloc(3 * kMiB + 1, 0, 0).allocation;
  allocator.malloc(1, 0, 0);
  allocator.free(first->block, 0);
  const auto rows = memory_stats(allocator.statistics());
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  const std::map<std::string, std::int64_t> stats(rows.begin(), rows.end());
  EXPECT_EQ(stats.size(), rows.size());
  EXPECT_EQ(stats.at("allocated_bytes.all.peak"), 3 * kMiB + 1024);
  EXPECT_EQ(stats.at("allocated_bytes.all.current"), 512);
  EXPECT_EQ(stats.at("allocated_bytes.all.allocated"), 3 * kMiB + 1024);
  EXPECT_EQ(stats.at("allocated_bytes.all.freed"), 3 * kMiB + 512);
  EXPECT_EQ(stats.at("allocated_bytes.small_pool.peak"), 512);
  EXPECT_EQ(stats.at("allocated_bytes.large_pool.peak"), 3 * kMiB + 512);
  EXPECT_EQ(stats.at("requested_bytes.all.peak"), 3 * kMiB + 2);
  EXPECT_EQ(stats.at("allocation.all.current"), 1);
  EXPECT_EQ(stats.at("active.all.peak"), 2);
  EXPECT_EQ(stats.at("active_bytes.large_pool.current"), 0);
  EXPECT_EQ(stats.at("segment.all.current"), 2);
  EXPECT_EQ(stats.at("reserved_bytes.all.peak"), 22 * kMiB);
  // Free: the large segment as a whole (not split), and the rest of the small one.
  EXPECT_EQ(stats.at("inactive_split.all.current"), 1);
  EXPECT_EQ(stats.at("inactive_split_bytes.all.current"), 2 * kMiB - 512);
  EXPECT_EQ(stats.at("inactive_split.all.peak"), 2);
  EXPECT_EQ(stats.at("num_device_alloc"), 2);
  EXPECT_EQ(stats.at("num_ooms"), 0);
  EXPECT_EQ(stats.at("oversize_segments.peak"), 0);
}

TEST(AllocatorStatistics, PeaksStartAgainFromWhatIsCurrent) {
  CachingAllocator allocator;
  const auto first = allocator.malloc(30 * kMiB, 0, 0).allocation;
  allocator.malloc(512, 0, 0);
  allocator.free(first->block, 0);
  allocator.reset_peaks();
  EXPECT_EQ(allocator.statistics().allocated_bytes.all.peak, 512);
  EXPECT_EQ(allocator.statistics().allocated_bytes.large_pool.peak, 0);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.peak, 32 * kMiB);
}

}  // namespace
}  // namespace interlace::allocator
