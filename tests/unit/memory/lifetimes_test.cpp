#include "simulator/memory/lifetimes.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "simulator/schedule/library.hpp"

namespace interlace::memory {
namespace {

using schedule::Stage;
using stages::ModuleId;
using stages::Piece;
using stages::SegmentKey;

constexpr ModuleId kModule{0};
const SegmentKey kCopy{Stage::kCopyBatchToGpu, Piece::kWhole, {}};
const SegmentKey kTensors{Stage::kInputDistWait, Piece::kTensors, kModule};
const SegmentKey kFinish{Stage::kInputDistFinish, Piece::kWhole, kModule};
const SegmentKey kLookup{Stage::kEmbeddingLookup, Piece::kWhole, kModule};
const SegmentKey kPooled{Stage::kOutputDistWait, Piece::kWhole, kModule};
const SegmentKey kForward{Stage::kDenseForward, Piece::kWhole, {}};
const SegmentKey kDense{Stage::kBackward, Piece::kDense, {}};
const SegmentKey kGradDist{Stage::kBackward, Piece::kGradDist, kModule};
const SegmentKey kUpdate{Stage::kBackward, Piece::kUpdate, kModule};

/// A recording of one batch in which each stage makes one block, under sparse_dist.
RecordedMemory recording() {
  RecordedMemory memory;
  memory.batches = 1;
  const auto add = [&](const SegmentKey& segment, Bytes bytes, Release released) {
    memory.classes[{segment, 0}] = {1, bytes, released};
    memory.sizes[segment] = {{bytes}};
  };
  add(kCopy, 1000, Release{});
  add(kTensors, 2000, {end_of({Stage::kOutputDistStart, Piece::kWhole, kModule}), 0});
  add(kFinish, 3000, {{kLookup, 2, 0}, 1});
  add(kPooled, 4000, Release{});
  add(kForward, 4000, {{kDense, 3, 0}, 0});
  add(kDense, 8000, {{kGradDist, 2, 1}, 0});
  memory.classes[{kGradDist, 0}] = {0, 4000, Release{{kGradDist, 2, 1}, 0}};
  memory.sizes[kGradDist] = {{4000}};
  add(kUpdate, 500, {{kUpdate, 2, 1}, 0});
  return memory;
}

const Fate& fate_of(const Lifetimes& lifetimes, const SegmentKey& made_in, const SegmentKey& size_of) {
  for (const Fate& fate : lifetimes.at(made_in)) {
    if (fate.size_of.made_in == size_of) return fate;
  }
  throw std::out_of_range("no such fate");
}

Lifetimes under(const char* wanted) {
  return lifetimes(recording(), schedule::find("torchrec/sparse_dist"), schedule::find(wanted));
}

TEST(Lifetimes, TheRecordedScheduleKeepsWhatWasRecorded) {
  const RecordedMemory memory = recording();
  const Lifetimes same = under("torchrec/sparse_dist");
  for (const auto& [kind, history] : memory.classes) {
    EXPECT_EQ(fate_of(same, kind.made_in, kind.made_in).holders.front(), history.released);
  }
}

TEST(Lifetimes, ABatchLivesUntilItsLastReaderOrAsLongAsTheScheduleKeepsIt) {
  EXPECT_EQ(fate_of(under("torchrec/sparse_dist"), kCopy, kCopy).holders.front(), Release{});
  EXPECT_EQ(fate_of(under("torchrec/base"), kCopy, kCopy).holders.front(), (Release{end_of(kForward), 0}));
}

TEST(Lifetimes, ExchangedInputFollowsKeptUntil) {
  EXPECT_EQ(fate_of(under("torchrec/base"), kTensors, kTensors).holders.front(), (Release{end_of(kFinish), 0}));
  EXPECT_EQ(fate_of(under("torchrec/fused_sparse_dist"), kTensors, kTensors).holders.front(), Release{});
  EXPECT_EQ(fate_of(under("torchrec/semi_sync"), kTensors, kTensors).holders.front(), (Release{end_of(kUpdate), 0}));
}

TEST(Lifetimes, WhatTheLookupKeepsIsHeldByAutogradToo) {
  const std::vector<Release> both{{{kLookup, 2, 0}, 1}, {end_of(kUpdate), 0}};
  EXPECT_EQ(fate_of(under("torchrec/semi_sync"), kFinish, kFinish).holders, both);
}

TEST(Lifetimes, PooledEmbeddingsAreDroppedBehindTheirConcatenation) {
  EXPECT_EQ(fate_of(under("torchrec/base"), kPooled, kPooled).holders.front(), (Release{{kForward, 2, 1}, 0}));
}

TEST(Lifetimes, ABackwardInTwoPartsKeepsTheGradientsOfPooledEmbeddings) {
  const Lifetimes split = under("torchrec/semi_sync");
  EXPECT_EQ(fate_of(split, kDense, kGradDist).holders, std::vector{Release{}});
  EXPECT_EQ(fate_of(split, kDense, kDense).holders, (std::vector{Release{end_of(kDense), 0}}));
  EXPECT_FALSE(split.contains(kGradDist));
}

TEST(Lifetimes, MemoryComesFromTheStreamThatTheScheduleNames) {
  const schedule::Schedule in_place = schedule::find("torchrec/sparse_dist_inplace");
  const Lifetimes moved = lifetimes(recording(), schedule::find("torchrec/sparse_dist"), in_place);
  EXPECT_EQ(fate_of(moved, kCopy, kCopy).pool, in_place.stream_named("main"));
  EXPECT_EQ(fate_of(under("torchrec/sparse_dist"), kCopy, kCopy).pool, std::nullopt);
  EXPECT_EQ(fate_of(moved, kCopy, kCopy).used_on, std::vector{*in_place.stream_named("data_dist")});
  EXPECT_TRUE(fate_of(moved, kUpdate, kUpdate).used_on.empty()) << "a temporary is used on its own stream";
}

TEST(BatchOffset, CountsStagesBehindTheOptimizerToTheNextIteration) {
  const schedule::Schedule semi = schedule::find("torchrec/semi_sync");
  EXPECT_EQ(batch_offset(semi, {Stage::kInputDistStart, Piece::kPermute, kModule}), 2);
  EXPECT_EQ(batch_offset(semi, {Stage::kZeroGrad, Piece::kWhole, {}}), -1);
  EXPECT_EQ(batch_offset(schedule::find("torchrec/sparse_dist"), {Stage::kZeroGrad, Piece::kWhole, {}}), 0);
}

}  // namespace
}  // namespace interlace::memory
