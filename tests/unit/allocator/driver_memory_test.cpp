#include "simulator/allocator/driver_memory.hpp"

#include <gtest/gtest.h>

#include <set>

namespace interlace::allocator {
namespace {

TEST(DriverMemory, GivesWhatIsLeft) {
  DriverMemory memory({.total = 100 * kMiB, .held_by_others = 30 * kMiB});
  EXPECT_EQ(memory.free(), 70 * kMiB);
  const auto first = memory.allocate(40 * kMiB);
  ASSERT_TRUE(first);
  EXPECT_FALSE(memory.allocate(32 * kMiB));
  EXPECT_TRUE(memory.map(30 * kMiB));
  EXPECT_EQ(memory.free(), 0);
  memory.release(*first, 40 * kMiB);
  memory.unmap(10 * kMiB);
  EXPECT_EQ(memory.free(), 50 * kMiB);
}

TEST(DriverMemory, WithoutACapacityNeverEnds) {
  DriverMemory memory;
  EXPECT_TRUE(memory.allocate(900 * kGiB));
  EXPECT_TRUE(memory.allocate(900 * kGiB));
  EXPECT_FALSE(memory.free());
}

// What a damaged recording asks for.
TEST(DriverMemory, HasNoMoreThanCanBeCounted) {
  DriverMemory memory;
  EXPECT_FALSE(memory.allocate(DriverMemory::kLargestSegment + 1));
  constexpr Bytes kMost = Bytes{1} << 62;
  EXPECT_TRUE(memory.map(kMost - 1));
  EXPECT_FALSE(memory.map(2));
  EXPECT_TRUE(memory.map(1));
}

TEST(DriverMemory, AnnouncedSegmentsComeAtTheirAddresses) {
  DriverMemory memory;
  memory.expect(0x1000, 2 * kMiB);
  memory.expect(0x2000, 20 * kMiB);
  memory.expect(0x3000, 2 * kMiB);
  EXPECT_EQ(memory.allocate(20 * kMiB), 0x2000U);
  EXPECT_EQ(memory.allocate(2 * kMiB), 0x1000U);
  EXPECT_EQ(memory.allocate(2 * kMiB), 0x3000U);
  EXPECT_GT(memory.allocate(2 * kMiB), Address{1} << 62);
}

TEST(DriverMemory, MadeUpAddressesRiseOrAreShuffledAndNeverMeet) {
  DriverMemory rising;
  DriverMemory one({}, 1);
  DriverMemory other({}, 2);
  std::set<Address> of_one;
  bool one_rises = true;
  bool same = true;
  Address last_rising = 0;
  Address last_of_one = 0;
  for (int i = 0; i < 1000; ++i) {
    const Address a = *rising.allocate(kMiB);
    const Address b = *one.allocate(kMiB);
    same = same && b == *other.allocate(kMiB);
    EXPECT_GT(a, last_rising);
    one_rises = one_rises && b > last_of_one;
    of_one.insert(b);
    last_rising = a;
    last_of_one = b;
  }
  EXPECT_EQ(of_one.size(), 1000U);
  EXPECT_FALSE(one_rises);
  EXPECT_FALSE(same);
}

TEST(DriverMemory, AnAddressThatCameBackIsUsedAgain) {
  DriverMemory memory;
  const Address first = *memory.allocate(kMiB);
  memory.release(first, kMiB);
  EXPECT_EQ(memory.allocate(4 * kMiB), first);
}

}  // namespace
}  // namespace interlace::allocator
