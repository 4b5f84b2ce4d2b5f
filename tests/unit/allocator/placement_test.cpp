#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

std::vector<Bytes> free_sizes(const CachingAllocator& allocator, bool small, Stream stream = 0) {
  std::vector<Bytes> sizes;
  for (const BlockRecord& block : allocator.free_blocks({}, small, stream)) sizes.push_back(block.size);
  return sizes;
}

struct Vector {
  std::string name;
  std::vector<Bytes> requests;
  Bytes allocated;
  Bytes reserved;
  std::vector<Bytes> free_small;
  std::vector<Bytes> free_large;
};

class Placement : public testing::TestWithParam<Vector> {};

TEST_P(Placement, OfRequestsOnOneStream) {
  CachingAllocator allocator;
  for (const Bytes request : GetParam().requests) take(allocator, request);
  EXPECT_EQ(allocator.statistics().allocated_bytes.all.current, GetParam().allocated);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.current, GetParam().reserved);
  EXPECT_EQ(free_sizes(allocator, true), GetParam().free_small);
  EXPECT_EQ(free_sizes(allocator, false), GetParam().free_large);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, Placement,
    testing::Values(
        Vector{"OneByte", {1}, 512, 2 * kMiB, {2 * kMiB - 512}, {}},
        Vector{"LargestSmall", {kMiB}, kMiB, 2 * kMiB, {kMiB}, {}},
        Vector{"SmallestLarge", {kMiB + 1}, kMiB + 512, 20 * kMiB, {}, {19 * kMiB - 512}},
        Vector{"BelowOwnSegment", {10 * kMiB - 512}, 10 * kMiB - 512, 20 * kMiB, {}, {10 * kMiB + 512}},
        Vector{"OwnSegment", {10 * kMiB}, 10 * kMiB, 10 * kMiB, {}, {}},
        // 12 MiB - 11 MiB = 1 MiB is not more than 1 MiB: the block keeps it.
        Vector{"RestOfExactlyOneMebibyteIsKept", {11 * kMiB}, 12 * kMiB, 12 * kMiB, {}, {}},
        Vector{"RestAboveOneMebibyteIsCutOff", {11 * kMiB - 512}, 11 * kMiB - 512, 12 * kMiB, {}, {kMiB + 512}},
        Vector{"Rest", {19 * kMiB}, 20 * kMiB, 20 * kMiB, {}, {}},
        // Two of 512 KiB and one MiB left in the first 2 MiB: four fit.
        Vector{"FiveHalves", std::vector<Bytes>(5, 512 * kKiB), 2560 * kKiB, 4 * kMiB, {1536 * kKiB}, {}},
        // 20 MiB segment: 3 + 3, 14 left; 15 needs a segment of 16 and keeps its last MiB.
        Vector{"ThreeThreeFifteen", {3 * kMiB, 3 * kMiB, 15 * kMiB}, 22 * kMiB, 36 * kMiB, {}, {14 * kMiB}},
        Vector{"MatrixWorkspace", {32 * kMiB}, 32 * kMiB, 32 * kMiB, {}, {}},
        Vector{"OlderMatrixWorkspace", {8519680}, 8519680, 20 * kMiB, {}, {20 * kMiB - 8519680}}),
    [](const auto& vector) { return vector.param.name; });

TEST(Placement, AFreedSegmentServesASlightlySmallerRequestWhole) {
  CachingAllocator allocator;
  allocator.free(take_block(allocator, 64 * kMiB), 1);
  take(allocator, 63 * kMiB);
  EXPECT_EQ(allocator.statistics().allocated_bytes.all.current, 64 * kMiB);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.current, 64 * kMiB);
  EXPECT_TRUE(free_sizes(allocator, false).empty());
}

TEST(Placement, AHoleThatIsTooSmallMakesANewSegment) {
  CachingAllocator allocator;
  allocator.free(take_block(allocator, 64 * kMiB), 0);
  const BlockId first = take_block(allocator, 16 * kMiB);
  take(allocator, 16 * kMiB);
  allocator.free(first, 0);
  take(allocator, 60 * kMiB);
  EXPECT_EQ(allocator.statistics().allocated_bytes.all.current, 76 * kMiB);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.current, 124 * kMiB);
  EXPECT_EQ(free_sizes(allocator, false), (std::vector<Bytes>{16 * kMiB, 32 * kMiB}));
}

TEST(Placement, AnotherStreamCannotHaveIt) {
  CachingAllocator allocator;
  allocator.free(take_block(allocator, 30 * kMiB, 0), 0);
  take(allocator, 30 * kMiB, 7);
  EXPECT_EQ(allocator.statistics().allocated_bytes.all.current, 30 * kMiB);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.current, 60 * kMiB);
  EXPECT_EQ(free_sizes(allocator, false, 0), (std::vector<Bytes>{30 * kMiB}));
  EXPECT_TRUE(free_sizes(allocator, false, 7).empty());
}

TEST(Placement, DivisionsGrowTheBlock) {
  Configuration configuration;
  configuration.roundup_power2_divisions.fill(2);
  CachingAllocator allocator(configuration);
  take(allocator, 514 * kMiB);
  EXPECT_EQ(allocator.statistics().allocated_bytes.all.current, 768 * kMiB);
  EXPECT_EQ(allocator.statistics().reserved_bytes.all.current, 768 * kMiB);
  EXPECT_EQ(allocator.statistics().requested_bytes.all.current, 514 * kMiB);
}

TEST(Placement, NeighboursMergeInAnyOrderOfFreeing) {
  const std::vector<std::vector<std::size_t>> orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    CachingAllocator allocator;
    const std::vector<BlockId> blocks{take_block(allocator, 512), take_block(allocator, 512),
                                      take_block(allocator, 512)};
    for (const std::size_t i : order) allocator.free(blocks[i], 0);
    EXPECT_EQ(free_sizes(allocator, true), (std::vector<Bytes>{2 * kMiB}));
    EXPECT_EQ(allocator.statistics().inactive_split.all.current, 0);
    EXPECT_EQ(allocator.statistics().inactive_split_bytes.all.current, 0);
  }
}

// Oversize blocks (here from 64 MiB on) are not split, do not serve smaller requests, and serve larger ones only while
// they are less than 20 MiB too large.
TEST(Placement, OversizeBlocksKeepApart) {
  Configuration configuration;
  configuration.max_split_size = 64 * kMiB;
  CachingAllocator allocator(configuration);
  allocator.free(take_block(allocator, 100 * kMiB), 0);
  const auto small = allocator.malloc(40 * kMiB, 0, 0).allocation;
  EXPECT_TRUE(small->from_driver);
  EXPECT_TRUE(allocator.malloc(80 * kMiB, 0, 0).allocation->from_driver);  // 100 >= 80 + 20
  const auto close = allocator.malloc(81 * kMiB, 0, 0).allocation;
  EXPECT_FALSE(close->from_driver);
  EXPECT_EQ(close->size, 100 * kMiB);
  EXPECT_EQ(allocator.statistics().oversize_allocations.current, 2);
  EXPECT_EQ(allocator.statistics().oversize_segments.current, 2);
}

}  // namespace
}  // namespace interlace::allocator
