#include "simulator/memory/memory_replay.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace interlace::memory {
namespace {

using schedule::Stage;
using stages::Piece;
using stages::SegmentKey;

constexpr Bytes kMiB = 1 << 20;
const SegmentKey kForward{Stage::kDenseForward, Piece::kWhole, {}};
const SegmentKey kBackward{Stage::kBackward, Piece::kWhole, {}};
constexpr std::uint32_t kMain = 0;
constexpr std::uint32_t kSide = 1;

/// Each iteration makes a 30 MiB block in its forward and gives it back behind the first call of its backward.
struct OneBlock {
  RecordedMemory memory;
  Lifetimes lifetimes;

  OneBlock() {
    memory.batches = 1;
    memory.persistent = {50 * kMiB};
    memory.sizes[kForward] = {{30 * kMiB}};
    lifetimes[kForward] = {{{kForward, 1, 0}, {kForward, 0, 1}, {{{kBackward, 1, 0}, 0}}, {}, {}}};
  }

  [[nodiscard]] MemoryCourse play(const std::vector<PlayedCall>& calls, const StreamDrains& drains = {},
                                  std::optional<Bytes> capacity = {}) const {
    return replay_memory(memory, lifetimes, calls, drains,
                         {.configuration = {}, .first_counted = 0, .capacity = capacity});
  }
};

/// Iterations of two forward calls and two backward calls, 10 ns each.
std::vector<PlayedCall> iterations(int count) {
  std::vector<PlayedCall> calls;
  for (int i = 0; i < count; ++i) {
    for (const SegmentKey& segment : {kForward, kForward, kBackward, kBackward}) {
      const Nanoseconds at = static_cast<Nanoseconds>(calls.size()) * 10;
      calls.push_back({segment, i, i, kMain, at, at + 10});
    }
  }
  return calls;
}

TEST(MemoryReplay, BlocksAreMadeAndGivenBackAtTheirPlaces) {
  const MemoryCourse course = OneBlock().play(iterations(2));
  EXPECT_EQ(course.persistent, 50 * kMiB);
  EXPECT_EQ(course.allocated_peak, 80 * kMiB);
  EXPECT_EQ(course.reserved_peak, 80 * kMiB) << "the second iteration takes the block of the first";
  std::vector<Nanoseconds> made;
  std::vector<Nanoseconds> freed;
  for (const MemoryEvent& event : course.events) {
    if (event.entry.action == allocator::Action::kAlloc) made.push_back(event.entry.time);
    if (event.entry.action == allocator::Action::kFreeCompleted) freed.push_back(event.entry.time);
  }
  EXPECT_EQ(made, (std::vector<Nanoseconds>{10, 50}));
  EXPECT_EQ(freed, (std::vector<Nanoseconds>{30, 70}));
  ASSERT_EQ(course.culprits.size(), 1U);
  EXPECT_EQ(course.culprits.front().made_in, kForward);
  EXPECT_EQ(course.culprits.front().bytes, 30 * kMiB);
}

// Of every other batch the segment makes a second block, before the one that it makes of all.
TEST(MemoryReplay, ABatchHasTheBlocksOfItsKind) {
  OneBlock one;
  one.memory.batches = 2;
  one.memory.sizes[kForward] = {{30 * kMiB}, {20 * kMiB, 40 * kMiB}};
  const std::vector<Release> holders{{{kBackward, 1, 0}, 0}};
  one.lifetimes[kForward] = {{{kForward, 1, 0}, {kForward, 0, 1}, holders, {}, {}},
                             {{kForward, 1, 0}, {kForward, 0, 2}, holders, {}, {}},
                             {{kForward, 1, 1}, {kForward, 1, 2}, holders, {}, {}}};
  std::vector<Bytes> made;
  for (const MemoryEvent& event : one.play(iterations(3)).events) {
    if (event.entry.action == allocator::Action::kAlloc) made.push_back(event.entry.size / kMiB);
  }
  EXPECT_EQ(made, (std::vector<Bytes>{30, 20, 40, 30}));
}

TEST(MemoryReplay, BlocksAreGivenBackBehindARunOfAStep) {
  OneBlock one;
  const StepRun backward{1, {}};
  one.lifetimes[kForward].front().holders = {{{}, 0, backward}};
  std::vector<PlayedCall> calls = iterations(2);
  for (PlayedCall& call : calls) call.run = call.segment == kBackward ? backward : StepRun{0, {}};
  std::vector<Nanoseconds> freed;
  for (const MemoryEvent& event : one.play(calls).events) {
    if (event.entry.action == allocator::Action::kFreeCompleted) freed.push_back(event.entry.time);
  }
  EXPECT_EQ(freed, (std::vector<Nanoseconds>{40, 80})) << "behind the second call of backward";
}

// A wait that the recording does not show leaves the segment without calls in one iteration: what is given back in it
// must not stay for ever.
TEST(MemoryReplay, WhatASegmentWithoutCallsGivesBackGoesWithTheOneThatFollows) {
  const SegmentKey wait{Stage::kOutputDistWait, Piece::kWhole, {}};
  OneBlock one;
  one.lifetimes[kForward].front().holders = {{{wait, 0, 0}, 0}};
  std::vector<PlayedCall> calls;
  for (int i = 0; i < 3; ++i) {
    for (const SegmentKey& segment : {kForward, wait, kBackward}) {
      if (segment == wait && i == 1) continue;
      const Nanoseconds at = static_cast<Nanoseconds>(calls.size()) * 10;
      calls.push_back({segment, i, i, kMain, at, at + 10});
    }
  }
  const MemoryCourse course = one.play(calls);
  std::vector<Nanoseconds> freed;
  for (const MemoryEvent& event : course.events) {
    if (event.entry.action == allocator::Action::kFreeCompleted) freed.push_back(event.entry.time);
  }
  EXPECT_EQ(freed, (std::vector<Nanoseconds>{10, 40, 60})) << "as backward begins, where there is no wait";
  EXPECT_EQ(course.allocated_peak, 80 * kMiB);
}

// A workspace that comes when the loop runs first takes the block that some stage has given back, and keeps it.
TEST(MemoryReplay, WorkspacesAreMadeByTheFirstMultiplication) {
  const SegmentKey lookup{Stage::kEmbeddingLookup, Piece::kWhole, {}};
  OneBlock one;
  one.memory.sizes[lookup] = {{40 * kMiB}};
  one.lifetimes = {{lookup, {{{lookup, 0, 0}, {lookup, 0, 1}, {{{lookup, 1, 1}, 0}}, {}, {}}}}};
  std::vector<PlayedCall> calls;
  for (int i = 0; i < 2; ++i) {
    for (const SegmentKey& segment : {lookup, kForward}) calls.push_back({segment, i, i, kMain, 0, 0});
  }
  EXPECT_EQ(one.play(calls).reserved_peak, 90 * kMiB);
  one.memory.workspaces = {32 * kMiB};
  EXPECT_EQ(one.play(calls).reserved_peak, 130 * kMiB) << "the next lookup needs a segment of its own";
  EXPECT_EQ(one.play(calls).persistent, 82 * kMiB);
  one.memory.workspaces.clear();
  one.memory.persistent.push_back(32 * kMiB);
  EXPECT_EQ(one.play(calls).reserved_peak, 122 * kMiB);
}

TEST(MemoryReplay, ABlockUsedOnAStreamThatHasNotDrainedIsNotReused) {
  OneBlock one;
  one.lifetimes[kForward].front().used_on = {schedule::StreamIndex{kSide}};
  StreamDrains drains;
  drains.add(kSide, 0, 1000);
  const MemoryCourse course = one.play(iterations(2), drains);
  EXPECT_EQ(course.allocated_peak, 80 * kMiB);
  EXPECT_EQ(course.active_peak, 110 * kMiB);
  EXPECT_EQ(course.reserved_peak, 110 * kMiB);

  StreamDrains early;
  early.add(kSide, 0, 35);
  EXPECT_EQ(one.play(iterations(2), early).reserved_peak, 80 * kMiB);
}

TEST(MemoryReplay, TheLastHolderGivesTheBlockBack) {
  OneBlock one;
  one.lifetimes[kForward].front().holders.push_back({{}, 1});  // until the end of the next iteration
  EXPECT_EQ(one.play(iterations(3)).allocated_peak, 110 * kMiB);
}

TEST(MemoryReplay, AHolderWhosePlaceHasPassedDoesNotCount) {
  OneBlock one;
  one.lifetimes[kForward].front().holders = {{{kBackward, 1, 0}, 0}, {{kBackward, 2, 0}, -1}};
  EXPECT_EQ(one.play(iterations(3)).allocated_peak, 80 * kMiB);
}

TEST(MemoryReplay, SaysWhatDoesNotFit) {
  const OneBlock one;
  EXPECT_FALSE(one.play(iterations(2), {}, 80 * kMiB).first_failure);
  const auto failure = one.play(iterations(2), {}, 79 * kMiB).first_failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->in, kForward);
  EXPECT_EQ(failure->iteration, 0);
  EXPECT_EQ(failure->bytes, 30 * kMiB);
}

}  // namespace
}  // namespace interlace::memory
