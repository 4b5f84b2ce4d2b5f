#include "simulator/memory/last_use.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "simulator/schedule/library.hpp"
#include "tests/unit/memory/names.hpp"

namespace interlace::memory {
namespace {

const SegmentKey kPermute{Stage::kInputDistStart, Piece::kPermute, kModule};
const SegmentKey kExchange{Stage::kInputDistStart, Piece::kExchange, {}};
const SegmentKey kOrder{Stage::kBackward, Piece::kOrder, kModule};

StepRun run_in(const char* schedule, const SegmentKey& segment) {
  return *step_run_of(schedule::find(schedule), segment);
}
Release behind(const char* schedule, const SegmentKey& segment) { return {{}, 0, run_in(schedule, segment)}; }

/// What becomes of a block of the segment that was let go so in a recording of `recorded`.
std::vector<Release> moved(const char* recorded, const SegmentKey& made_in, const Release& released,
                           const char* wanted) {
  RecordedMemory memory;
  memory.frees = stages::Frees::kBehindLastUse;
  memory.classes[{made_in, 0}] = {1, 1000, released};
  return lifetimes(memory, schedule::find(recorded), schedule::find(wanted)).at(made_in).front().holders;
}

constexpr const char* kSparse = "torchrec/sparse_dist";
constexpr const char* kBase = "torchrec/base";
constexpr const char* kSemi = "torchrec/semi_sync";

Release recorded_behind(const char* schedule, const SegmentKey& segment) {
  return {end_of(segment), 0, run_in(schedule, segment)};
}

TEST(LastUse, FollowsTheReleasePointThatExplainsTheRecordedOne) {
  EXPECT_EQ(moved(kSparse, kCopy, Release{}, kBase), std::vector{behind(kBase, kDense)});
  EXPECT_EQ(moved(kBase, kCopy, recorded_behind(kBase, kUpdate), kSparse), std::vector{Release{}});
}

TEST(LastUse, WhatIsMadeOfABlockMayHoldItToo) {
  const SegmentKey output{Stage::kOutputDistStart, Piece::kWhole, kModule};
  // Let go behind backward, so that the jagged features of the tables were held, and they came as they are.
  EXPECT_EQ(moved(kSparse, kTensors, recorded_behind(kSparse, kUpdate), kSparse),
            (std::vector{behind(kSparse, output), behind(kSparse, kDense)}));
  EXPECT_EQ(moved(kSparse, kTensors, recorded_behind(kSparse, output), kSparse), std::vector{behind(kSparse, output)});
}

TEST(LastUse, WhoTakesOverIsTakenToWhereTheRecordingCannotTell) {
  EXPECT_EQ(moved(kSparse, kPooled, Release{}, kBase),
            (std::vector{behind(kBase, {Stage::kDenseForward, Piece::kWhole, {}}), behind(kBase, kDense)}));
}

TEST(LastUse, WhoWaitsForACollectiveHoldsWhatWasSentBesidesItsResource) {
  const SegmentKey finish{Stage::kInputDistFinish, Piece::kWhole, kModule};
  const Release at_wait{{finish, 0, 0}, 0, {}};
  EXPECT_EQ(moved(kBase, kPermute, at_wait, kSemi), (std::vector{at_wait, behind(kSemi, kUpdate)}))
      << "semi_sync keeps what was permuted until backward";
  // sparse_dist keeps it longer than that: it was no part of what the stage leaves.
  EXPECT_EQ(moved(kSparse, kPermute, at_wait, kSemi), std::vector{at_wait});
}

TEST(LastUse, WhatAStageNeedsItselfGoesBehindIt) {
  EXPECT_EQ(moved(kSparse, kPermute, recorded_behind(kSparse, kExchange), kBase), std::vector{behind(kBase, kPermute)});
  EXPECT_EQ(moved(kSparse, kGradDist, recorded_behind(kSparse, kUpdate), kSemi), std::vector{behind(kSemi, kGradDist)});
  const Release recorded = recorded_behind(kSparse, kUpdate);
  EXPECT_EQ(moved(kSparse, kDense, recorded, kSemi), (std::vector{Release{recorded.place, 0, {}}}))
      << "semi_sync parts what was one stage";
  EXPECT_EQ(moved(kSemi, kOrder, recorded_behind(kSemi, kUpdate), kSparse),
            (std::vector{Release{end_of(kUpdate), 0, {}}}))
      << "an update's own goes with it, also where another comes behind";
}

}  // namespace
}  // namespace interlace::memory
