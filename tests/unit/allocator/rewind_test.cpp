#include "simulator/allocator/rewind.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/allocator/take.hpp"

namespace interlace::allocator {
namespace {

class Rewind : public testing::Test {
 protected:
  void watch(CachingAllocator& allocator) {
    allocator.observe([this](const TraceEntry& entry) { history_.push_back(entry); });
  }
  void expect_rewound(const AllocatorState& before, const AllocatorState& after,
                      const Configuration& configuration = {}) {
    Diagnostics diagnostics;
    EXPECT_EQ(rewind(after, history_, configuration, "test", diagnostics), before);
    EXPECT_EQ(diagnostics.count_of(kHistoryContradictsState.code), 0);
  }
  std::vector<TraceEntry> history_;
};

TEST_F(Rewind, GoesBackOverEveryKindOfEntry) {
  CachingAllocator a;
  const auto stays = a.malloc(4 * kMiB, 0, 0).allocation;
  const auto goes = a.malloc(30 * kMiB - 5, 0, 0).allocation;
  const auto waits = a.malloc(600, kSide, 0).allocation;
  const std::vector<StreamUse> uses{{0, 5}};
  a.free(waits->block, 0, uses);
  const AllocatorState before = a.export_state();
  watch(a);
  a.free(goes->block, 1);
  a.malloc(29 * kMiB, 0, 10);  // completes `waits`, takes the segment of `goes` whole
  a.malloc(40 * kMiB, 0, 10);
  a.free(stays->block, 11);
  a.empty_cache(12);
  expect_rewound(before, a.export_state());
}

// The request of 11 MiB owns 12; after its free nothing but the rules tells so.
TEST_F(Rewind, FindsTheSlackOfBlocksThatAreGone) {
  CachingAllocator a;
  const auto with_slack = a.malloc(11 * kMiB, 0, 0).allocation;
  const auto in_the_middle = a.malloc(3 * kMiB, 0, 0).allocation;
  const auto behind = a.malloc(16 * kMiB, 0, 0).allocation;  // 17 are left: keeps all
  ASSERT_EQ(with_slack->size, 12 * kMiB);
  ASSERT_EQ(behind->size, 17 * kMiB);
  const AllocatorState before = a.export_state();
  watch(a);
  a.free(with_slack->block, 0);
  a.free(behind->block, 0);
  a.free(in_the_middle->block, 0);
  a.malloc(20 * kMiB, 0, 0);
  expect_rewound(before, a.export_state());
}

TEST_F(Rewind, OversizeBlocksOwnTheirSegment) {
  Configuration configuration;
  configuration.max_split_size = 20 * kMiB;
  CachingAllocator a(configuration);
  a.free(a.malloc(60 * kMiB, 0, 0).allocation->block, 0);
  const auto block = a.malloc(45 * kMiB, 0, 0).allocation;
  ASSERT_EQ(block->size, 60 * kMiB);
  const AllocatorState before = a.export_state();
  watch(a);
  a.free(block->block, 0);
  expect_rewound(before, a.export_state(), configuration);
}

TEST_F(Rewind, GoesBackOverExpandableSegments) {
  Configuration configuration;
  configuration.expandable_segments = true;
  CachingAllocator a(configuration, DriverMemory({.total = kGiB}));
  a.malloc(5 * kMiB, 0, 0);
  const auto hole = a.malloc(70 * kMiB, 0, 0).allocation;
  a.malloc(5 * kMiB, 0, 0);
  const AllocatorState before = a.export_state();
  watch(a);
  a.free(hole->block, 0);
  a.empty_cache(0);
  a.malloc(50 * kMiB, 0, 0);
  a.malloc(50 * kMiB, 0, 0);
  expect_rewound(before, a.export_state(), configuration);
}

TEST_F(Rewind, CountsWhatContradictsTheState) {
  CachingAllocator a;
  const auto block = a.malloc(5 * kMiB, 0, 0).allocation;
  const AllocatorState state = a.export_state();
  const Address free_address = block->address + 8 * kMiB;
  const std::vector<TraceEntry> contradictions{{Action::kAlloc, free_address, 512, 0, {}, 0},
                                               {Action::kFreeRequested, block->address, 512, 0, {}, 0},
                                               {Action::kFreeCompleted, block->address, 512, 0, {}, 0},
                                               {Action::kFreeCompleted, 64, 512, 0, {}, 0},
                                               {Action::kSegmentAlloc, block->address, 20 * kMiB, 0, {}, 0},
                                               {Action::kSegmentFree, block->address + 512, 2 * kMiB, 0, {}, 0},
                                               {Action::kSegmentMap, free_address, 2 * kMiB, 0, {}, 0},
                                               {Action::kSegmentUnmap, free_address, 2 * kMiB, 0, {}, 0}};
  for (const TraceEntry& entry : contradictions) {
    Diagnostics diagnostics;
    EXPECT_EQ(rewind(state, std::vector{entry}, {}, "test", diagnostics), state);
    EXPECT_EQ(diagnostics.count_of(kHistoryContradictsState.code), 1) << to_string(entry.action);
  }
}

}  // namespace
}  // namespace interlace::allocator
