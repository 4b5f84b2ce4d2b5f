// Decisions that PyTorch 2.11 took in recorded training steps on H200s: the free blocks of a pool and stream at one
// moment, a request, and where it went.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/allocator/caching_allocator.hpp"
#include "tests/unit/allocator/recorded_arena.hpp"

namespace interlace::allocator {
namespace {

struct Decision {
  std::string name;
  bool small;
  std::vector<FreeAt> free;
  Bytes request;
  Address offset;  ///< of the block that was given
  Bytes size;      ///< of that block
  Bytes rest;      ///< that was cut off and stayed free; 0: no split
};

class RecordedDecision : public testing::TestWithParam<Decision> {};

TEST_P(RecordedDecision, IsMadeAgain) {
  const Decision& decision = GetParam();
  CachingAllocator allocator;
  allocator.import_state(arena_with(decision.free, decision.small), "test");
  const auto given = allocator.malloc(decision.request, 0, 0).allocation;
  ASSERT_TRUE(given);
  EXPECT_FALSE(given->from_driver);
  EXPECT_EQ(given->address, kRecordedBase + decision.offset);
  EXPECT_EQ(given->size, decision.size);
  const auto left = allocator.free_blocks({}, decision.small, 0);
  ASSERT_EQ(left.size(), decision.free.size() - (decision.rest == 0 ? 1 : 0));
  if (decision.rest > 0) {
    const Address behind = given->address + static_cast<Address>(given->size);
    EXPECT_EQ(std::ranges::count(left, BlockRecord{behind, decision.rest, 0, BlockStatus::kInactive}), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    H200, RecordedDecision,
    testing::Values(
        Decision{"SmallSplit", true, {{65536, 0}, {1310720, 720896}}, 655360, 720896, 655360, 655360},
        Decision{"SmallTie", true, {{65536, 0}, {655360, 131072}, {655360, 1441792}}, 655360, 131072, 655360, 0},
        Decision{"SmallExact", true, {{65536, 0}, {655360, 1441792}}, 65536, 0, 65536, 0},
        Decision{"SmallTieSplit", true, {{2048, 0}, {2048, 3072}, {2089984, 6144}}, 800, 0, 1024, 1024},
        Decision{"LargeSplit",
                 false,
                 {{159224832, 55889100800}, {2494488576, 22335791104}, {6719275008, 0}},
                 67108864,
                 55889100800,
                 67108864,
                 92115968},
        Decision{"LargeSlack",
                 false,
                 {{1179136, 258411520}, {1184768, 3456562688}, {1640960, 0}, {15728640, 183044608}},
                 1310720,
                 0,
                 1640960,
                 0},
        Decision{"LargeSlackTie",
                 false,
                 {{1105408, 7385063936},
                  {7864320, 7313293312},
                  {20971520, 1314914304},
                  {65011712, 134217728},
                  {127926272, 0},
                  {127926272, 201326592}},
                 127800120,
                 0,
                 127926272,
                 0},
        Decision{"RestAboveOneMebibyte",
                 false,
                 {{1572864, 0}, {1572864, 6746537984}, {1572864, 16099835904}, {14680064, 22168469504}},
                 13107200,
                 22168469504,
                 13107200,
                 1572864},
        Decision{"LargeTie",
                 false,
                 {{1572864, 0},
                  {1572864, 6746537984},
                  {14680064, 16086728704},
                  {14680064, 22168469504},
                  {127926272, 15702949888},
                  {255852544, 15830876160}},
                 13107200,
                 16086728704,
                 13107200,
                 1572864},
        Decision{"LargeExactTie",
                 false,
                 {{1572352, 0}, {3342335488, 2149580800}, {3355443200, 29426712064}, {3355443200, 32782155264}},
                 3355443200,
                 29426712064,
                 3355443200,
                 0},
        Decision{"LargeRoundedTie",
                 false,
                 {{10485760, 0}, {20971520, 320864256}, {77594624, 3120562176}, {77594624, 3414163456}},
                 38675168,
                 3120562176,
                 38675456,
                 38919168}),
    [](const auto& decision) { return decision.param.name; });

TEST(RecordedDecision, TheSameRequestAgainTakesTheOtherOfTwoEqualBlocks) {
  CachingAllocator allocator;
  allocator.import_state(
      arena_with({{1572352, 0}, {3342335488, 2149580800}, {3355443200, 29426712064}, {3355443200, 32782155264}}, false),
      "test");
  EXPECT_EQ(allocator.malloc(3355443200, 0, 0).allocation->address, kRecordedBase + 29426712064);
  EXPECT_EQ(allocator.malloc(3355443200, 0, 0).allocation->address, kRecordedBase + 32782155264);
}

TEST(RecordedDecision, BigBlocksOfOtherStreamsDoNotHelp) {
  constexpr Stream kSide = 0x5a0;
  std::vector<FreeAt> own(10, {1572864, 0});
  own.push_back({1572352, 0});
  for (std::size_t i = 0; i < own.size(); ++i) own[i].offset = i * (Address{1} << 24);
  std::vector<FreeAt> others(10, {300 * kMiB, 0});
  for (std::size_t i = 0; i < others.size(); ++i) others[i].offset = i * (Address{1} << 30);
  AllocatorState state = arena_with(own, false, kSide);
  const AllocatorState of_others = arena_with(others, false, 0, kRecordedBase + (Address{1} << 40));
  state.segments.insert(state.segments.end(), of_others.segments.begin(), of_others.segments.end());
  CachingAllocator allocator;
  allocator.import_state(state, "test");
  const auto given = allocator.malloc(255579120, kSide, 0).allocation;
  EXPECT_TRUE(given->from_driver);
  EXPECT_EQ(given->size, 255852544);  // 122 times 2 MiB; the rest of 273,408 bytes is not worth a split
}

/// A block in use between two neighbours, freed and completed. The free blocks afterwards.
std::vector<BlockRecord> after_completion(Bytes size, std::optional<Bytes> free_before, Bytes after,
                                          BlockStatus after_is, bool small) {
  SegmentRecord segment{.address = kRecordedBase, .small = small};
  const auto add = [&](Bytes bytes, BlockStatus status) {
    segment.blocks.push_back({segment.address + static_cast<Address>(segment.size), bytes,
                              status == BlockStatus::kInactive ? 0 : bytes, status});
    segment.size += bytes;
  };
  if (free_before) add(*free_before, BlockStatus::kInactive);
  add(size, BlockStatus::kAllocated);
  add(after, after_is);
  add(512, BlockStatus::kAllocated);
  CachingAllocator allocator({}, DriverMemory{}, Completion::kDriven);
  const auto live = allocator.import_state({{segment}}, "test");
  allocator.free(live.front().block, 0);
  allocator.complete(live.front().block, 0);
  return allocator.free_blocks({}, small, 0);
}

TEST(RecordedCompletion, MergesWithBothFreeNeighbours) {
  const auto free = after_completion(512, 512, 3072, BlockStatus::kInactive, true);
  ASSERT_EQ(free.size(), 1U);
  EXPECT_EQ(free[0].size, 4096);
}

TEST(RecordedCompletion, APendingNeighbourStaysApart) {
  const auto free = after_completion(255587840, 255561216, 127794176, BlockStatus::kPendingFree, false);
  ASSERT_EQ(free.size(), 1U);
  EXPECT_EQ(free[0].size, 511149056);
  EXPECT_EQ(free[0].address, kRecordedBase);
}

TEST(RecordedCompletion, WithoutFreeNeighboursStaysAlone) {
  const auto free = after_completion(655360, std::nullopt, 65536, BlockStatus::kPendingFree, true);
  ASSERT_EQ(free.size(), 1U);
  EXPECT_EQ(free[0].size, 655360);
}

}  // namespace
}  // namespace interlace::allocator
