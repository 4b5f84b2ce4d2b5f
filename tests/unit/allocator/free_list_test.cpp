#include "simulator/allocator/free_list.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace interlace::allocator {
namespace {

using Reference = std::set<std::pair<Bytes, Address>>;

void expect_same(const FreeList& list, const Reference& reference) {
  ASSERT_EQ(list.size(), reference.size());
  auto position = list.begin();
  for (const auto& [size, address] : reference) {
    ASSERT_NE(position, list.end());
    ASSERT_EQ(list[position].size, size);
    ASSERT_EQ(list[position].address, address);
    position = list.next(position);
  }
  ASSERT_EQ(position, list.end());
  std::optional<FreeList::Position> back = list.previous(list.end());
  for (auto entry = reference.rbegin(); entry != reference.rend(); ++entry) {
    ASSERT_TRUE(back);
    ASSERT_EQ(list[*back].size, entry->first);
    ASSERT_EQ(list[*back].address, entry->second);
    back = list.previous(*back);
  }
  ASSERT_FALSE(back);
}

TEST(FreeList, FindsTheSmallestThatIsLargeEnoughAndOfEqualOnesTheLowest) {
  FreeList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.lower_bound(1), list.end());
  list.insert({1024, 700, BlockId{1}});
  list.insert({512, 900, BlockId{2}});
  list.insert({1024, 300, BlockId{3}});
  EXPECT_EQ(list[list.lower_bound(512)].block, BlockId{2});
  EXPECT_EQ(list[list.lower_bound(513)].block, BlockId{3});
  EXPECT_EQ(list.lower_bound(1025), list.end());
  EXPECT_EQ(list.largest(), 1024);
  list.erase(1024, 300);
  EXPECT_EQ(list[list.lower_bound(513)].block, BlockId{1});
}

// Thousands of entries, so that runs are cut and joined many times, growing and shrinking.
TEST(FreeList, KeepsTheOrderOfASet) {
  std::mt19937 random(1);  // NOLINT: the same numbers each time
  FreeList list;
  Reference reference;
  for (int round = 0; round < 60'000; ++round) {
    const bool growing = round / 10'000 % 2 == 0;
    const Bytes size = 512 * static_cast<Bytes>(random() % 40 + 1);
    if (random() % 10 < (growing ? 8U : 2U)) {
      const Address address = random() % 100'000;
      if (reference.emplace(size, address).second) list.insert({size, address, BlockId{0}});
    } else {
      const auto found = reference.lower_bound({size, 0});
      const auto position = list.lower_bound(size);
      ASSERT_EQ(found == reference.end(), position == list.end());
      if (found == reference.end()) continue;
      ASSERT_EQ(list[position].address, found->second);
      if (random() % 2 == 0) {
        list.erase(position);
      } else {
        list.erase(found->first, found->second);
      }
      reference.erase(found);
    }
    if (round % 5'000 == 0) expect_same(list, reference);
  }
  expect_same(list, reference);
  while (!reference.empty()) {
    list.erase(reference.begin()->first, reference.begin()->second);
    reference.erase(reference.begin());
  }
  expect_same(list, reference);
}

}  // namespace
}  // namespace interlace::allocator
