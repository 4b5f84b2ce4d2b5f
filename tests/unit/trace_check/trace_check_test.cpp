#include "simulator/trace_check/trace_check.hpp"

#include <gtest/gtest.h>

#include "tests/unit/trace_check/loop_trace.hpp"

namespace interlace::trace_check {
namespace {

using check::HazardKind;
using enum trace::AllocationAction;

constexpr int kMain = 7;
constexpr int kSide = 9;
constexpr int kThird = 10;
constexpr int kCollectives = 11;

TraceCheck check_loop(LoopTrace& loop, const TraceCheckOptions& options = {}) {
  const trace::Trace trace = loop.build();
  Diagnostics diagnostics;
  return check(trace, staged_by_names(trace), options, diagnostics);
}

TEST(TraceCheck, AWaitOrders) {
  LoopTrace loop;
  loop.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500);
  loop.stage("dense_forward", 3).wait(kMain, kSide).kernel(kMain, 1600, 100);
  const TraceCheck result = check_loop(loop);
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_EQ(result.checked, 2);
  EXPECT_EQ(result.unchecked, 0);
  EXPECT_EQ(result.waits_recorded, 1);
}

TEST(TraceCheck, WithoutItOrderIsLuck) {
  LoopTrace loop;
  loop.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500);
  loop.stage("dense_forward", 3).kernel(kMain, 1600, 100);
  loop.stage("copy_batch_to_gpu", 4).kernel(kSide, 2000, 500);
  loop.stage("dense_forward", 4).kernel(kMain, 2700, 100);
  const TraceCheck result = check_loop(loop);
  ASSERT_EQ(result.hazards.size(), 1U);
  const TraceHazard& hazard = result.hazards.front();
  EXPECT_EQ(hazard.kind, HazardKind::kReadBeforeWrite);
  EXPECT_EQ(hazard.datum, "batch");
  EXPECT_EQ(hazard.ranks, std::vector<std::int32_t>{0});
  EXPECT_EQ(hazard.occurrences, 2);
  EXPECT_EQ(hazard.overlapped, 0);
  EXPECT_EQ(hazard.smallest_margin, 100);
  EXPECT_EQ(hazard.largest_margin, 200);
  EXPECT_EQ(hazard.earlier.stage, "copy_batch_to_gpu");
  EXPECT_EQ(hazard.earlier.stream, "stream 9");
  EXPECT_EQ(hazard.later.stage, "dense_forward");
  EXPECT_EQ(hazard.later.batch, 3);
}

TEST(TraceCheck, BadLuckShows) {
  LoopTrace loop;
  loop.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500);
  loop.stage("dense_forward", 3).kernel(kMain, 1200, 100);
  const TraceCheck result = check_loop(loop);
  ASSERT_EQ(result.hazards.size(), 1U);
  EXPECT_EQ(result.hazards.front().overlapped, 1);
  EXPECT_EQ(result.hazards.front().smallest_margin, -300);
}

// The wait covers what was queued on the side stream before it, which is the copy of another batch.
TEST(TraceCheck, AWaitThatComesTooEarlyDoesNotOrder) {
  LoopTrace loop;
  loop.stage("copy_batch_to_gpu", 2).kernel(kSide, 1000, 100).wait(kMain, kSide);
  loop.stage("copy_batch_to_gpu", 3).kernel(kSide, 1200, 100);
  loop.stage("dense_forward", 2).kernel(kMain, 1400, 10);
  loop.stage("dense_forward", 3).kernel(kMain, 1500, 10);
  const TraceCheck result = check_loop(loop);
  ASSERT_EQ(result.hazards.size(), 1U);
  EXPECT_EQ(result.hazards.front().later.batch, 3);
  EXPECT_EQ(result.hazards.front().occurrences, 1);
}

TEST(TraceCheck, WhatOnlyTheHostOrdersIsSaid) {
  LoopTrace loop;
  loop.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500).host_waits_for(kSide).until(1510);
  loop.stage("dense_forward", 3).kernel(kMain, 1600, 100);
  const TraceCheck result = check_loop(loop);
  EXPECT_TRUE(result.hazards.empty());
  ASSERT_EQ(result.held_by_host.size(), 1U);
  EXPECT_EQ(result.held_by_host.front().datum, "batch");
}

TEST(TraceCheck, AnUnknownWaitLeavesItUndecided) {
  LoopTrace loop;
  loop.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500);
  loop.stage("dense_forward", 3).unknown_wait(kMain).kernel(kMain, 1600, 100);
  const TraceCheck result = check_loop(loop);
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_EQ(result.undecided.size(), 1U);

  LoopTrace lost;
  lost.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500);
  lost.stage("dense_forward", 3).wait_for_lost_record(kMain, kSide).kernel(kMain, 1600, 100);
  const TraceCheck of_lost = check_loop(lost);
  EXPECT_TRUE(of_lost.hazards.empty());
  EXPECT_EQ(of_lost.undecided.size(), 1U);

  LoopTrace further;
  further.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 500);
  further.stage("input_dist_start", 3).unknown_wait(kThird).kernel(kThird, 1600, 10);
  further.stage("dense_forward", 3).wait(kMain, kThird).kernel(kMain, 1700, 100);
  const TraceCheck of_further = check_loop(further);
  EXPECT_TRUE(of_further.hazards.empty());
  EXPECT_FALSE(of_further.undecided.empty());
  EXPECT_EQ(result.waits_unknown, 1);
}

// The lookup of the next batch reads tables that the backward before still updates on the stream of its lookup.
TEST(TraceCheck, TablesLiveOnBeyondABatch) {
  for (const bool ordered : {true, false}) {
    LoopTrace loop;
    loop.stage("embedding_lookup", 1).kernel(kSide, 1000, 100);
    loop.stage("dense_forward", 1).wait(kMain, kSide).kernel(kMain, 1200, 100);
    loop.stage("backward", 1).kernel(kMain, 1300, 100).wait(kSide, kMain).kernel(kSide, 1400, 100);
    if (ordered) loop.wait(kMain, kSide);
    loop.stage("embedding_lookup", 2).kernel(kMain, 1600, 100);
    const TraceCheck result = check_loop(loop);
    ASSERT_EQ(result.hazards.size(), ordered ? 0U : 1U);
    if (!ordered) {
      EXPECT_EQ(result.hazards.front().datum, "tables");
    }
    ASSERT_EQ(result.staleness.size(), 1U);
    EXPECT_EQ(result.staleness.front().stage, "embedding_lookup");
    EXPECT_EQ(result.staleness.front().most, 0);
  }
}

TEST(TraceCheck, SaysHowLateTablesAreRead) {
  LoopTrace loop;
  loop.stage("embedding_lookup", 1).kernel(kMain, 1000, 10);
  loop.stage("backward", 0).kernel(kMain, 1100, 10);
  loop.stage("embedding_lookup", 2).kernel(kMain, 1200, 10);
  loop.stage("backward", 1).kernel(kMain, 1300, 10);
  loop.stage("embedding_lookup", 3).kernel(kMain, 1400, 10);
  const TraceCheck result = check_loop(loop);
  EXPECT_TRUE(result.hazards.empty());
  ASSERT_EQ(result.staleness.size(), 1U);
  EXPECT_EQ(result.staleness.front().least, 1);
  EXPECT_EQ(result.staleness.front().most, 1);
}

TEST(TraceCheck, FeatureProcessorsReadWhatTheOptimizerWrites) {
  for (const bool weighed : {true, false}) {
    LoopTrace loop;
    loop.stage("optimizer_step", 0).kernel(kMain, 1000, 100);
    loop.stage("embedding_lookup", 1).kernel(kSide, 1200, 100);
    EXPECT_EQ(check_loop(loop, {.feature_processors = weighed, .known = {}}).hazards.size(), weighed ? 1U : 0U);
  }
}

// The inputs of a collective have to be there; what the stage does meanwhile is not told apart.
TEST(TraceCheck, ACollectiveWaitsForItsInputs) {
  constexpr bool kCollective = true;
  for (const bool ordered : {true, false}) {
    LoopTrace loop;
    loop.stage("input_dist_start", 5).kernel(kSide, 1000, 100);
    if (ordered) loop.wait(kCollectives, kSide);
    loop.kernel(kCollectives, 1200, 100, kCollective).kernel(kSide, 1210, 10);
    EXPECT_EQ(check_loop(loop).hazards.size(), ordered ? 0U : 1U);
  }
}

// An optimizer in a hook of backward, which goes on beside it.
TEST(TraceCheck, AStageMayGoOnBesideOneWithinIt) {
  const auto hooked = [](bool goes_on) {
    LoopTrace loop;
    loop.stage("dense_forward", 1).kernel(kMain, 900, 10);
    loop.stage("backward", 1).kernel(kMain, 1000, 100);
    loop.within("optimizer_step", 1).wait(kSide, kMain).kernel(kSide, 1200, 5000).back();
    if (goes_on) loop.kernel(kMain, 1300, 100);
    return check_loop(loop).hazards;
  };
  EXPECT_TRUE(hooked(false).empty());
  ASSERT_FALSE(hooked(true).empty());
  EXPECT_EQ(hooked(true).front().overlapped, 1);
}

/// During backward the thread of autograd launches an update of tables on side, before a lookup on main that does not
/// wait for it; meanwhile a loader's thread copies the next batch, with or without a range of its own.
LoopTrace beside_loader(bool loader_has_range) {
  constexpr int kAutograd = 2;
  constexpr int kLoader = 3;
  constexpr int kCopies = 20;
  LoopTrace loop;
  loop.stage("embedding_lookup", 1).kernel(kSide, 900, 10);
  loop.stage("dense_forward", 1).wait(kMain, kSide).kernel(kMain, 920, 10);
  loop.stage("backward", 1).wait(kSide, kMain);
  loop.thread(kLoader);
  if (loader_has_range) loop.within("copy_batch_to_gpu", 3);
  loop.kernel(kCopies, 950, 900);
  loop.thread(kAutograd);
  loop.backward_node();
  loop.kernel(kSide, 1000, 500);
  if (loader_has_range) loop.thread(kLoader).back();
  loop.thread(1).stage("embedding_lookup", 2).kernel(kMain, 1200, 500);
  return loop;
}

TEST(TraceCheck, WorkOfAutogradsThreadIsOfBackward) {
  for (const bool loader_has_range : {false, true}) {
    LoopTrace loop = beside_loader(loader_has_range);
    const TraceCheck result = check_loop(loop);
    ASSERT_EQ(result.hazards.size(), 1U) << loader_has_range;
    EXPECT_EQ(result.hazards.front().datum, "tables");
    EXPECT_EQ(result.hazards.front().earlier.stream, "stream 9");
    EXPECT_EQ(result.unchecked, loader_has_range ? 0 : 1);
  }
}

TEST(TraceCheck, HostReadsWaitForTheirCopy) {
  LoopTrace unsafe;
  unsafe.stage("validate_output", 1).copy_to_host(kMain, 1000, 500);
  unsafe.stage("dense_forward", 2).kernel(kMain, 1600, 10).host_waits_for(kMain);
  const TraceCheck result = check_loop(unsafe);
  ASSERT_EQ(result.hazards.size(), 1U);
  const TraceHazard& hazard = result.hazards.front();
  EXPECT_EQ(hazard.kind, HazardKind::kUnfinishedHostRead);
  EXPECT_EQ(hazard.datum, "the copy");
  EXPECT_EQ(hazard.earlier.stage, "validate_output");
  EXPECT_EQ(hazard.earlier.does, "copies");
  EXPECT_EQ(hazard.earlier.stream, "stream 7");
  EXPECT_EQ(hazard.later.does, "reads");
  EXPECT_EQ(hazard.later.stream, "thread 1");
  EXPECT_EQ(hazard.overlapped, 1);

  LoopTrace at_once;
  at_once.stage("validate_output", 1).copy_to_host(kMain, 1000, 500).host_waits_for(kMain).until(1600);
  at_once.stage("dense_forward", 2).kernel(kMain, 1700, 10);
  EXPECT_TRUE(check_loop(at_once).hazards.empty());
  LoopTrace late;
  late.stage("validate_output", 1).copy_to_host(kMain, 1000, 500).record(kMain);
  late.stage("dense_forward", 2).kernel(kMain, 1600, 10);
  late.stage("backward", 2).host_waits_for_record(kMain);
  EXPECT_TRUE(check_loop(late).hazards.empty());
}

TEST(TraceCheck, AnEventThatIsNotToldLeavesItUndecided) {
  const auto expect_undecided = [](LoopTrace& loop) {
    const TraceCheck result = check_loop(loop);
    EXPECT_TRUE(result.hazards.empty());
    EXPECT_EQ(result.undecided.size(), 1U);
  };
  LoopTrace validated;
  validated.stage("validate_output", 1).copy_to_host(kMain, 100, 500).host_waits_for_untold_event().until(1000);
  validated.stage("dense_forward", 2).kernel(kMain, 1100, 10);
  expect_undecided(validated);
  LoopTrace copied;
  copied.stage("copy_batch_to_gpu", 3).kernel(kSide, 1000, 100).host_waits_for_untold_event().until(1200);
  copied.stage("dense_forward", 3).kernel(kMain, 1300, 100);
  expect_undecided(copied);
  LoopTrace too_early;
  too_early.stage("copy_batch_to_gpu", 3).host_waits_for_untold_event().kernel(kSide, 1000, 100).until(1200);
  too_early.stage("dense_forward", 3).kernel(kMain, 1300, 100);
  EXPECT_EQ(check_loop(too_early).hazards.size(), 1U);
}

// A call that happened to return late proves nothing.
TEST(TraceCheck, OnlySomeCopiesKeepTheirCallWaiting) {
  using enum trace::MemorySpace;
  const auto hazards = [](const LoopTrace::HostCopy& how) {
    LoopTrace loop;
    loop.stage("validate_output", 1).copy_to_host(kMain, 1000, 500, how);
    return check_loop(loop).hazards.size();
  };
  EXPECT_EQ(hazards({.call = "cudaMemcpyAsync", .destination = kPageable, .call_outlasts_it = true}), 0U);
  EXPECT_EQ(hazards({.call = "cudaMemcpy", .destination = kPinned, .call_outlasts_it = true}), 0U);
  EXPECT_EQ(hazards({.call = "cudaMemcpyAsync", .destination = kPinned, .call_outlasts_it = true}), 1U);
}

TEST(TraceCheck, OneWaitIsThereForAllCopiesInFrontOfIt) {
  LoopTrace by_event;
  by_event.stage("validate_output", 1).copy_to_host(kMain, 1000, 100).copy_to_host(kMain, 1100, 100);
  by_event.kernel(kMain, 1200, 10).record(kMain);
  by_event.stage("dense_forward", 2).kernel(kMain, 1600, 10).host_waits_for_record(kMain);
  EXPECT_TRUE(check_loop(by_event).hazards.empty());

  LoopTrace by_stream;
  by_stream.stage("validate_output", 1).copy_to_host(kMain, 1000, 100).copy_to_host(kMain, 1100, 100);
  by_stream.host_waits_for(kMain).until(1600);
  EXPECT_TRUE(check_loop(by_stream).hazards.empty());

  LoopTrace by_another_stream;
  by_another_stream.stage("validate_output", 1).copy_to_host(kSide, 1000, 100).wait(kMain, kSide);
  by_another_stream.kernel(kMain, 1200, 10).host_waits_for(kMain).until(1600);
  EXPECT_TRUE(check_loop(by_another_stream).hazards.empty());

  LoopTrace too_early;
  too_early.stage("validate_output", 1).copy_to_host(kMain, 100, 10).host_waits_for(kMain).until(200);
  too_early.copy_to_host(kMain, 1000, 100);
  EXPECT_EQ(check_loop(too_early).hazards.size(), 1U);
}

TEST(TraceCheck, CountsWhatItDoesNotKnow) {
  LoopTrace loop;
  loop.kernel(kMain, 500, 10);
  loop.stage("compute", 0).kernel(kMain, 1000, 10);
  loop.stage("dense_forward", 0).kernel(kMain, 1100, 10);
  const TraceCheck result = check_loop(loop);
  EXPECT_EQ(result.checked, 1);
  EXPECT_EQ(result.unchecked, 2);
  EXPECT_FALSE(result.has_memory);
}

constexpr Nanoseconds kMainTakes = 500'000;

/// The exchanged embeddings lie in side's pool, main reads them, and the next batch's input gets their
/// memory. completed: when the allocator looked whether other streams were done with it; without: it knew of none.
LoopTrace reuse_loop(std::optional<Nanoseconds> completed, bool waits) {
  LoopTrace loop;
  loop.stage("output_dist_start", 1).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 1000, 10);
  loop.stage("output_dist_wait", 1)
      .wait(kMain, kSide)
      .kernel(kMain, 1100, kMainTakes)
      .memory(kFreeRequested, 0x1000, 512, kSide);
  if (completed) loop.memory(kAlloc, 0x9000, 512, kMain).until(*completed);
  loop.memory(kFreeCompleted, 0x1000, 512, kSide);
  loop.stage("input_dist_wait", 2);
  if (waits) loop.wait(kSide, kMain);
  loop.memory(kAlloc, 0x1000, 256, kSide).kernel(kSide, 1200 + kMainTakes, 10);
  return loop;
}

TEST(Reuse, OfMemoryThatAnotherStreamMayStillUse) {
  LoopTrace loop = reuse_loop({}, false);
  const TraceCheck result = check_loop(loop);
  EXPECT_TRUE(result.has_memory);
  EXPECT_EQ(result.blocks_checked, 1);
  ASSERT_EQ(result.hazards.size(), 1U);
  const TraceHazard& hazard = result.hazards.front();
  EXPECT_EQ(hazard.kind, HazardKind::kFreeBeforeLastUse);
  EXPECT_EQ(hazard.datum, "output_exchange");
  EXPECT_EQ(hazard.smallest_margin, 100);
  EXPECT_EQ(hazard.later.stage, "input_dist_wait");
}

TEST(Reuse, IsSafeBehindAWaitOrARecordedStream) {
  LoopTrace waits = reuse_loop({}, true);
  EXPECT_TRUE(check_loop(waits).hazards.empty());
  LoopTrace recorded = reuse_loop(1100 + kMainTakes, false);
  const TraceCheck result = check_loop(recorded);
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_EQ(result.blocks_recorded, 1);
}

// No other call of the allocator came between: that the completion is late shows that it is not of the same call.
TEST(Reuse, OfAFreeThatTheNextCallOfTheAllocatorCompleted) {
  const auto completed_after = [](Nanoseconds time) {
    LoopTrace loop;
    loop.stage("output_dist_start", 1).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 1000, 10);
    loop.stage("output_dist_wait", 1).wait(kMain, kSide).kernel(kMain, 1100, kMainTakes).until(kMainTakes);
    loop.memory(kFreeRequested, 0x1000, 512, kSide).until(kMainTakes + time).memory(kFreeCompleted, 0x1000, 512, kSide);
    loop.stage("input_dist_wait", 2).memory(kAlloc, 0x1000, 256, kSide).kernel(kSide, 1200 + 2 * kMainTakes, 10);
    return check_loop(loop);
  };
  EXPECT_TRUE(completed_after(100'000).hazards.empty());
  EXPECT_EQ(completed_after(100'000).blocks_recorded, 1);
  EXPECT_EQ(completed_after(5'000).hazards.size(), 1U) << "in the same call";
}

// record_stream named another stream: the allocator gave the memory back while main still read it.
TEST(Reuse, IsNotKeptByAFreeThatDidNotWaitForTheStreamThatUsesIt) {
  LoopTrace early = reuse_loop(kMainTakes / 2, false);
  const TraceCheck result = check_loop(early);
  ASSERT_EQ(result.hazards.size(), 1U);
  EXPECT_EQ(result.hazards.front().kind, HazardKind::kFreeBeforeLastUse);
  EXPECT_EQ(result.blocks_recorded, 0);
  LoopTrace ordered = reuse_loop(kMainTakes / 2, true);
  EXPECT_TRUE(check_loop(ordered).hazards.empty());
  // The clocks of the allocator and of the device may differ by so much.
  LoopTrace as_good_as_over = reuse_loop(1100 + kMainTakes - 50'000, false);
  EXPECT_TRUE(check_loop(as_good_as_over).hazards.empty());
}

TEST(Reuse, IsSafeWhereTheStreamThatUsesItWasRecorded) {
  const auto recorded_on = [](int stream) {
    LoopTrace loop;
    loop.stage("output_dist_start", 1).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 1000, 10);
    loop.stage("output_dist_wait", 1)
        .wait(kMain, kSide)
        .kernel(kMain, 1100, 400)
        .memory(trace::AllocationAction::kRecordStream, 0x1000, 512, stream)
        .memory(kFreeRequested, 0x1000, 512, kSide)
        .memory(kFreeCompleted, 0x1000, 512, kSide);  // main was done when the allocator next looked
    loop.stage("input_dist_wait", 2).memory(kAlloc, 0x1000, 256, kSide).kernel(kSide, 1600, 10);
    return check_loop(loop);
  };
  EXPECT_TRUE(recorded_on(kMain).hazards.empty());
  EXPECT_EQ(recorded_on(kMain).blocks_recorded, 1);
  EXPECT_EQ(recorded_on(kMain + 20).hazards.size(), 1U) << "another stream's end says nothing of main";
}

// Others get the rest of a block whose first part went to one that says nothing of itself.
TEST(Reuse, OfWhatIsLeftOfABlock) {
  LoopTrace loop;
  loop.stage("output_dist_start", 1).memory(kAlloc, 0x1000, 1024, kSide).kernel(kSide, 1000, 10);
  loop.stage("output_dist_wait", 1).wait(kMain, kSide).kernel(kMain, 1100, kMainTakes);
  loop.memory(kFreeRequested, 0x1000, 1024, kSide).memory(kFreeCompleted, 0x1000, 1024, kSide);
  loop.stage("compute", 2).memory(kAlloc, 0x1100, 256, kSide);
  loop.stage("input_dist_wait", 2).memory(kAlloc, 0x1200, 512, kSide).kernel(kSide, 2000, 10);
  EXPECT_EQ(check_loop(loop).hazards.size(), 1U);
}

// In-place copies take memory of main's pool and write to it on another stream.
TEST(Reuse, ByAnotherStreamThanThatOfThePool) {
  const auto copied_in_place = [](bool waits) {
    LoopTrace loop;
    loop.stage("copy_batch_to_gpu", 1).memory(kAlloc, 0x1000, 512, kMain).kernel(kSide, 1000, 10);
    loop.stage("dense_forward", 1).wait(kMain, kSide).kernel(kMain, 1100, 5'000);
    loop.memory(kFreeRequested, 0x1000, 512, kMain).memory(kFreeCompleted, 0x1000, 512, kMain);
    loop.stage("copy_batch_to_gpu", 2).memory(kAlloc, 0x1000, 512, kMain);
    if (waits) loop.wait(kSide, kMain);
    loop.kernel(kSide, waits ? 7'000 : 1200, 10);
    return check_loop(loop).hazards;
  };
  ASSERT_EQ(copied_in_place(false).size(), 1U);
  EXPECT_EQ(copied_in_place(false).front().kind, HazardKind::kMemoryStillInUse);
  EXPECT_TRUE(copied_in_place(true).empty());
}

// A collective fills the memory before anything on the stream of its pool does.
TEST(Reuse, ByACollective) {
  const auto received = [](bool waits) {
    LoopTrace loop;
    loop.stage("output_dist_start", 1).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 1000, 10);
    loop.stage("output_dist_wait", 1).wait(kMain, kSide).kernel(kMain, 1100, kMainTakes);
    loop.memory(kFreeRequested, 0x1000, 512, kSide).memory(kFreeCompleted, 0x1000, 512, kSide);
    loop.stage("input_dist_wait", 2).memory(kAlloc, 0x1000, 512, kSide);
    if (waits) loop.wait(kCollectives, kMain);
    loop.kernel(kCollectives, waits ? 1200 + kMainTakes : 2000, 10, true);
    loop.wait(kSide, kMain).wait(kSide, kCollectives).kernel(kSide, 1300 + kMainTakes, 10);
    return check_loop(loop).hazards.size();
  };
  EXPECT_EQ(received(false), 1U);
  EXPECT_EQ(received(true), 0U);
}

// A feature processor reads the ids that it replaces.
TEST(Reuse, OfWhatIsReadToBeReplaced) {
  LoopTrace loop;
  loop.stage("input_dist_finish", 1).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 1000, 10);
  loop.stage("feature_processor", 1)
      .wait(kMain, kSide)
      .memory(kAlloc, 0x5000, 512, kMain)
      .kernel(kMain, 1100, kMainTakes);
  loop.memory(kFreeRequested, 0x1000, 512, kSide).memory(kFreeCompleted, 0x1000, 512, kSide);
  loop.stage("input_dist_finish", 2).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 2000, 10);
  EXPECT_EQ(check_loop(loop).hazards.size(), 1U);
}

TEST(Reuse, MayBeHeldByTheHostAlone) {
  LoopTrace loop;
  loop.stage("output_dist_start", 1).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 1000, 10);
  loop.stage("output_dist_wait", 1).wait(kMain, kSide).kernel(kMain, 1100, 5'000);
  loop.memory(kFreeRequested, 0x1000, 512, kSide).memory(kFreeCompleted, 0x1000, 512, kSide);
  loop.host_waits_for(kMain).until(7'000);
  loop.stage("input_dist_wait", 2).memory(kAlloc, 0x1000, 512, kSide).kernel(kSide, 8'000, 10);
  const TraceCheck result = check_loop(loop);
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_EQ(result.held_by_host.size(), 1U);
}

TEST(Reuse, MayBeKnown) {
  LoopTrace loop = reuse_loop({}, false);
  const TraceCheck result = check_loop(
      loop, {.feature_processors = false, .known = {{"free_before_last_use", "output_exchange", "why", {}, {}}}});
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_EQ(result.known_hazards.size(), 1U);
  const auto known_between = [](schedule::Stage earlier, schedule::Stage later) {
    LoopTrace again = reuse_loop({}, false);
    const schedule::KnownHazard known{"free_before_last_use", "output_exchange", "why", earlier, later};
    return check_loop(again, {.feature_processors = false, .known = {known}}).known_hazards.size();
  };
  using enum schedule::Stage;
  EXPECT_EQ(known_between(kOutputDistWait, kInputDistWait), 1U);
  EXPECT_EQ(known_between(kOutputDistWait, kBackward), 0U);
  EXPECT_EQ(known_between(kBackward, kInputDistWait), 0U);
}

}  // namespace
}  // namespace interlace::trace_check
