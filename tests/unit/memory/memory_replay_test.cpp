#include "simulator/memory/memory_replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/memory/names.hpp"

namespace interlace::memory {
namespace {

constexpr Bytes kMiB = 1 << 20;
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
                                  std::optional<Bytes> capacity = {}, std::int32_t first_batch = 0) const {
    return replay_memory(memory, lifetimes, calls, drains,
                         {.first_counted = 0, .first_batch = first_batch, .capacity = capacity});
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
  EXPECT_EQ(course.iterations, 2);
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
  const auto made = [&one](std::int32_t first_batch) {
    std::vector<Bytes> sizes;
    for (const MemoryEvent& event : one.play(iterations(3), {}, {}, first_batch).events) {
      if (event.entry.action == allocator::Action::kAlloc) sizes.push_back(event.entry.size / kMiB);
    }
    return sizes;
  };
  EXPECT_EQ(made(0), (std::vector<Bytes>{30, 20, 40, 30}));
  EXPECT_EQ(made(1), (std::vector<Bytes>{20, 40, 30, 20, 40})) << "a run may begin with any of them";
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

// What a multiplication makes is there before its workspace is.
TEST(MemoryReplay, AWorkspaceComesRightInFrontOfAMultiplicationThatIsKnown) {
  const SegmentKey lookup{Stage::kEmbeddingLookup, Piece::kWhole, {}};
  OneBlock one;
  one.memory.sizes[lookup] = {{40 * kMiB}};
  one.memory.workspaces = {32 * kMiB};
  one.lifetimes[lookup] = {{{lookup, 0, 0}, {lookup, 0, 1}, {{{lookup, 1, 1}, 0}}, {}, {}}};
  std::vector<PlayedCall> calls;
  for (int i = 0; i < 2; ++i) {
    for (const SegmentKey& segment : {lookup, kForward, kForward, kBackward}) {
      calls.push_back({segment, i, i, kMain, 0, 0});
    }
  }
  EXPECT_EQ(one.play(calls).reserved_peak, 160 * kMiB) << "the workspace takes what the lookup gave back";
  calls[2].multiplies = true;
  EXPECT_EQ(one.play(calls).reserved_peak, 122 * kMiB) << "the block of the forward does";
}

TEST(MemoryReplay, GradientBucketsComeWithTheSecondForward) {
  OneBlock one;
  one.memory.gradient_buckets = {20 * kMiB, 12 * kMiB};
  const std::vector<PlayedCall> calls = iterations(3);
  const MemoryCourse seen = one.play(calls);
  EXPECT_EQ(seen.persistent, 82 * kMiB);
  EXPECT_EQ(seen.allocated_peak, 112 * kMiB);
  EXPECT_EQ(seen.reserved_peak, (50 + 32 + 30 + 30) * kMiB)
      << "one takes the block of the first forward, one that of the first bucket";
}

// Until PyTorch sees that the first gradients were reduced, the first bucket is there as well.
TEST(MemoryReplay, TheFirstBucketIsLetGoWhenItsReductionIsSeen) {
  OneBlock one;
  one.memory.gradient_buckets = {20 * kMiB, 12 * kMiB};
  one.lifetimes[kBackward] = std::exchange(one.lifetimes[kForward], {});
  one.lifetimes[kBackward].front().made = {kBackward, 0, 0};
  std::vector<PlayedCall> calls = iterations(4);
  MemoryReplayOptions options{.first_counted = 0};
  const auto play = [&](Nanoseconds seen_after) {
    options.reduction_seen_after = seen_after;
    return replay_memory(one.memory, one.lifetimes, calls, {}, options);
  };
  EXPECT_EQ(play(0).reserved_peak, (50 + 32 + 30 + 30) * kMiB);
  EXPECT_EQ(play(1).reserved_peak, (50 + 32 + 30 + 12 + 30) * kMiB);
  const auto free_blocks = [](const MemoryCourse& course) {
    return std::ranges::count_if(course.events, [](const MemoryEvent& event) {
      return event.entry.action == allocator::Action::kFreeCompleted && event.entry.size == 32 * kMiB;
    });
  };
  EXPECT_EQ(free_blocks(play(1)), 0) << "no collective makes PyTorch let go of it";
  calls[8].communicates = true;
  EXPECT_EQ(free_blocks(play(1)), 1);
  EXPECT_EQ(free_blocks(play(1000)), 0) << "not seen by then";
  EXPECT_EQ(play(1000).allocated_peak, 112 * kMiB) << "what steady iterations hold";
}

TEST(MemoryReplay, TheFirstBackwardKeepsItsGradients) {
  OneBlock one;
  one.memory.sizes[kBackward] = {{40 * kMiB, 40 * kMiB}};
  one.lifetimes[kBackward] = {{{kBackward, 0, 0}, {kBackward, 0, 2}, {{{kBackward, 1, 1}, 0}}, {}, {}},
                              {{kBackward, 1, 1}, {kBackward, 1, 2}, {{{kBackward, 2, 2}, 0}}, {}, {}}};
  one.memory.gradient_buckets = {12 * kMiB};
  EXPECT_EQ(one.play(iterations(2)).allocated_peak, 132 * kMiB) << "of the forward and one of backward";
  for (const std::uint32_t ordinal : {0U, 1U}) one.memory.classes[{kBackward, ordinal, 2}].gradient = true;
  EXPECT_EQ(one.play(iterations(2)).allocated_peak, 142 * kMiB) << "both of backward";
  MemoryReplayOptions later{.first_counted = 1};
  EXPECT_EQ(replay_memory(one.memory, one.lifetimes, iterations(3), {}, later).allocated_peak, 132 * kMiB);
  one.memory.gradient_buckets.clear();
  EXPECT_EQ(one.play(iterations(2)).allocated_peak, 120 * kMiB) << "nobody keeps them";
}

TEST(MemoryReplay, ABlockUsedOnAStreamThatHasNotDrainedIsNotReused) {
  OneBlock one;
  one.lifetimes[kForward].front().used_on = {schedule::StreamIndex{kSide}};
  StreamDrains drains;
  drains.add(kSide, 0, 1000);
  const MemoryCourse course = one.play(iterations(3), drains);
  EXPECT_EQ(course.allocated_peak, 80 * kMiB);
  EXPECT_EQ(course.active_peak, 110 * kMiB);
  EXPECT_EQ(course.reserved_peak, 110 * kMiB);

  StreamDrains early;
  early.add(kSide, 0, 75);
  EXPECT_EQ(one.play(iterations(3), early).reserved_peak, 80 * kMiB);
}

TEST(MemoryReplay, InTheFirstIterationTheDeviceWaitsForTheHost) {
  OneBlock one;
  one.lifetimes[kForward].front().used_on = {schedule::StreamIndex{kSide}};
  StreamDrains drains;
  drains.add(kSide, 0, 1000);
  EXPECT_EQ(one.play(iterations(2), drains).active_peak, 80 * kMiB);
  EXPECT_EQ(one.play(iterations(3), drains).active_peak, 110 * kMiB);
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

TEST(MemoryReplay, TheAllocatorIsSetAsItWasRecorded) {
  OneBlock one;
  one.memory.settings.roundup_power2_divisions.fill(2);
  EXPECT_EQ(one.play(iterations(2)).allocated_peak, (64 + 32) * kMiB);
  one.memory.settings.per_process_memory_fraction = 0.5;
  EXPECT_FALSE(one.play(iterations(2)).first_failure) << "a part of what is not known";
  EXPECT_TRUE(one.play(iterations(2), {}, 100 * kMiB).first_failure);
}

// A schedule may name its streams in any order.
TEST(MemoryReplay, WhatIsAlwaysThereIsMadeOnTheMainStream) {
  OneBlock one;
  one.memory.persistent = {512 * 1024};  // leaves room in its segment of 2 MiB
  one.memory.sizes[kForward] = {{512 * 1024}};
  std::vector<PlayedCall> calls = iterations(2);
  for (PlayedCall& call : calls) call.stream = 3;
  MemoryReplayOptions options{.first_counted = 0};
  EXPECT_EQ(replay_memory(one.memory, one.lifetimes, calls, {}, options).reserved_peak, 4 * kMiB);
  options.main_stream = 3;
  EXPECT_EQ(replay_memory(one.memory, one.lifetimes, calls, {}, options).reserved_peak, 2 * kMiB);
}

}  // namespace
}  // namespace interlace::memory
