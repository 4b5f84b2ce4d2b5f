#include "simulator/memory/lifetimes.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "simulator/schedule/library.hpp"
#include "tests/unit/memory/names.hpp"

namespace interlace::memory {
namespace {

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

/// Row-wise tables: the reduce-scatter brings the pooled embeddings, and an all-gather sends their gradient as it is.
RecordedMemory row_wise(Release pooled_released) {
  RecordedMemory memory = recording();
  memory.classes.erase({kPooled, 0});
  memory.sizes.erase(kPooled);
  memory.classes[{kScatter, 0}] = {0, 1, Release{{kUpdate, 1, 0}, 0}};  // kept by autograd
  memory.classes[{kScatter, 1}] = {1, 4000, pooled_released};
  memory.sizes[kScatter] = {{1, 4000}};
  return memory;
}

const Fate& fate_of_pooled(const Lifetimes& lifetimes) { return lifetimes.at(kScatter).at(1); }

TEST(Lifetimes, WhatAReduceScatterBringsIsTheResultOfTheWait) {
  const schedule::Schedule sparse = schedule::find("torchrec/sparse_dist");
  const schedule::Schedule fused = schedule::find("torchrec/fused_sparse_dist_new_stream");
  const Release behind_concatenation{{kForward, 2, 1}, 0};
  const Lifetimes dropped = lifetimes(row_wise({}), sparse, fused);
  EXPECT_EQ(fate_of_pooled(dropped).holders, std::vector{behind_concatenation});
  EXPECT_EQ(fate_of_pooled(dropped).used_on, std::vector{*fused.stream_named("main")}) << "where it is awaited";
  EXPECT_EQ(dropped.at(kScatter).at(0).holders, (std::vector{Release{{kUpdate, 1, 0}, 0}}));
  const Lifetimes kept = lifetimes(row_wise(behind_concatenation), fused, sparse);
  EXPECT_EQ(fate_of_pooled(kept).holders, std::vector{Release{}});
  const Lifetimes split = lifetimes(row_wise({}), sparse, schedule::find("torchrec/semi_sync"));
  EXPECT_EQ(fate_of(split, kDense, kGradDist).holders, std::vector{Release{}});
}

TEST(Lifetimes, AGradientThatIsSentAsItIsIsHeldUntilTheWaitForIt) {
  RecordedMemory memory = row_wise({});
  memory.classes.erase({kDense, 0});
  memory.classes[{kDense, 0}] = {3, 4000, Release{}};  // the .grad of the pooled embeddings
  memory.sizes[kDense] = {{4000}};
  memory.classes[{kGradDist, 0}] = {0, 8000, Release{{kUpdate, 2, 1}, 0}};  // what the all-gather brings
  memory.sizes[kGradDist] = {{8000}};
  const schedule::Schedule semi = schedule::find("torchrec/semi_sync");
  const Release awaited{{kUpdate, 0, 0}, 0};
  const auto joined = [&] { return lifetimes(memory, semi, schedule::find("torchrec/sparse_dist")); };
  EXPECT_EQ(fate_of(joined(), kGradDist, kDense).holders, std::vector{awaited});
  memory.classes[{kGradDist, 0}].released = Release{{kGradDist, 2, 1}, 0};  // a piece of what is sent
  memory.classes[{kGradDist, 1}] = {1, 4000, awaited};                      // what is sent
  memory.sizes[kGradDist] = {{8000, 4000}};
  EXPECT_EQ(fate_of(joined(), kGradDist, kDense).holders, (std::vector{Release{{kGradDist, 2, 1}, 0}}));
}

// Column-wise tables: the whole gradient is brought into another order before it is cut into what is sent.
TEST(Lifetimes, AGradientThatIsRearrangedWholeIsLetGoBehindThat) {
  RecordedMemory memory = recording();
  memory.classes.erase({kDense, 0});
  memory.classes[{kDense, 0}] = {3, 4000, Release{}};                       // the .grad of the pooled embeddings
  memory.classes[{kDense, 1}] = {3, 4000, Release{{kDense, 5, 1}, 0}};      // what it was cut from
  memory.classes[{kGradDist, 0}] = {2, 4000, Release{{kUpdate, 0, 0}, 0}};  // it, rearranged
  memory.classes[{kGradDist, 1}] = {3, 2000, Release{{kGradDist, 5, 3}, 0}};
  memory.sizes[kDense] = {{4000, 4000}};
  memory.sizes[kGradDist] = {{4000, 2000}};
  const Lifetimes joined =
      lifetimes(memory, schedule::find("torchrec/semi_sync"), schedule::find("torchrec/sparse_dist"));
  const std::vector rearranged{Release{{kGradDist, 3, 1}, 0}};
  EXPECT_EQ(fate_of(joined, kGradDist, kDense).holders, rearranged);
  EXPECT_EQ(fate_of(joined, kDense, kDense).holders, rearranged);
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

// A recording shows no call of record_stream for the stream that the memory is of.
TEST(Lifetimes, WhoWaitsForACollectiveTakesItsMemoryOver) {
  RecordedMemory memory = recording();
  memory.knows_uses = true;
  memory.classes[{kScatter, 0}] = {1, 4000, Release{end_of(kPooled), 0}};
  memory.classes[{kLookup, 0}] = {1, 4000, Release{end_of(kUpdate), 0}};
  const schedule::Schedule sparse = schedule::find("torchrec/sparse_dist");
  const schedule::Schedule fused = schedule::find("torchrec/fused_sparse_dist_new_stream");
  const auto used_on = [&](const SegmentKey& made_in, const schedule::Schedule& recorded) {
    return fate_of(lifetimes(memory, recorded, fused), made_in, made_in).used_on;
  };
  EXPECT_EQ(used_on(kScatter, sparse), std::vector{*fused.stream_named("main")});
  EXPECT_TRUE(used_on(kLookup, sparse).empty()) << "who lets go of it waits for nothing";
  EXPECT_TRUE(used_on(kScatter, fused).empty()) << "the recording shows what there is to show";
}

TEST(BatchOffset, CountsStagesBehindTheOptimizerToTheNextIteration) {
  const schedule::Schedule semi = schedule::find("torchrec/semi_sync");
  EXPECT_EQ(batch_offset(semi, {Stage::kInputDistStart, Piece::kPermute, kModule}), 2);
  EXPECT_EQ(batch_offset(semi, {Stage::kZeroGrad, Piece::kWhole, {}}), -1);
  EXPECT_EQ(batch_offset(schedule::find("torchrec/sparse_dist"), {Stage::kZeroGrad, Piece::kWhole, {}}), 0);
}

}  // namespace
}  // namespace interlace::memory
