#include "simulator/check/conflicts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/check/schedules.hpp"

namespace interlace::check {
namespace {

using Kinds = std::map<HazardKind, std::size_t>;

const std::string kSideWaits = R"(, {"wait": "main", "stream": "side"}, )";
const std::string kMainWaits = R"(, {"wait": "side", "stream": "main"}, )";

// Kinds of conflicts in two batches, with how often.
Kinds kinds(const schedule::Schedule& schedule, std::int64_t batches = 2) {
  UnrollOptions options;
  options.batches = batches;
  const Program program = unroll(schedule, options);
  const HappensBefore order(program, false);
  Kinds kinds;
  for (const auto& found :
       {unordered_accesses(program, order), lifetime_conflicts(program, order), pool_conflicts(program, order)}) {
    for (const Conflict& conflict : found) ++kinds[conflict.kind];
  }
  return kinds;
}

TEST(UnorderedAccesses, OfOtherStreamsNeedAWait) {
  EXPECT_EQ(kinds(steps(work("main", "", "x") + kThen + work("main", "x", ""))), Kinds{});
  EXPECT_EQ(kinds(steps(work("main", "", "x", R"(, "record_stream": ["side"])") + kThen + work("side", "x", ""))),
            (Kinds{{HazardKind::kReadBeforeWrite, 2}}));
  EXPECT_EQ(kinds(steps(work("main", "", "x", R"(, "record_stream": ["side"])") + kSideWaits + work("side", "x", ""))),
            Kinds{});
}

// Tables live on: the next iteration's writer must wait for this one's reader.
TEST(UnorderedAccesses, WritesMayNotOvertakeReads) {
  const std::string reader = work("main", "dense_parameters", "");
  const std::string writer = work("side", "", "dense_parameters");
  // Batch 0: read 0 before write 0, and write 0 before read 1 (a read before the write), read 1 before write 1; the
  // writes are in order on side, and so on: 0-0, 1-1, 0-1 as writes overtaking reads, 0-1 as a read overtaking.
  EXPECT_EQ(kinds(steps(reader + kThen + writer)),
            (Kinds{{HazardKind::kWriteWhileRead, 3}, {HazardKind::kReadBeforeWrite, 1}}));
  EXPECT_EQ(kinds(steps(reader + kSideWaits + writer)), (Kinds{{HazardKind::kReadBeforeWrite, 1}}));
  EXPECT_EQ(kinds(steps(reader + kSideWaits + writer + R"(, {"wait": "side", "stream": "main"})")), Kinds{});
}

TEST(UnorderedAccesses, OfTwoWritersOneMayBeLast) {
  const auto found =
      kinds(steps(work("main", "", "dense_parameters") + kThen + work("side", "", "dense_parameters")), 1);
  EXPECT_EQ(found, (Kinds{{HazardKind::kUnorderedWrites, 1}}));
}

// prefetch locks the rows that it reads; what it writes besides is as any other write.
TEST(UnorderedAccesses, ALockedReadDoesNotHideAWrite) {
  const auto prefetch = [](const std::string& more) {
    return work("main", "", "kjt", R"(, "record_stream": ["side"])") + kSideWaits +
           R"({"stage": "prefetch", "batch": 0, "stream": "side")" + more + "}, " + work("main", "", "tables");
  };
  EXPECT_EQ(kinds(steps(prefetch("")), 1), Kinds{});
  // The tables of two modules.
  EXPECT_EQ(kinds(steps(prefetch(R"(, "writes": ["tables"])")), 1), (Kinds{{HazardKind::kUnorderedWrites, 2}}));
}

// x is made on side and read on main, which waits for side; side never waits for main, and makes the next x in the
// memory of this one.
TEST(Lifetimes, AnotherStreamsReadsKeepNothing) {
  const std::string make = work("side", "", "x");
  const std::string use = work("main", "x", "");
  EXPECT_EQ(kinds(steps(make + kMainWaits + use)), (Kinds{{HazardKind::kFreeBeforeLastUse, 1}}));
  EXPECT_EQ(kinds(steps(work("side", "", "x", R"(, "record_stream": ["main"])") + kMainWaits + use)), Kinds{});
  EXPECT_EQ(kinds(steps(work("side", "", "x", R"(, "record_stream": ["other"])") + kMainWaits + use)),
            (Kinds{{HazardKind::kFreeBeforeLastUse, 1}}));
  EXPECT_EQ(kinds(steps(make + kMainWaits + use + R"(, {"wait": "main", "stream": "side"})")), Kinds{});
}

// x is made in main's pool and freed by name while side reads it; other makes z in that pool. What other waited for is
// main's first step only. PyTorch ignores record_stream of a block's own stream.
TEST(Lifetimes, RecordingThePoolsOwnStreamKeepsNothing) {
  const auto freed = [](const std::string& recorded) {
    return work("main", "", "x") + R"(, {"record": "made", "stream": "main"})" + kSideWaits + work("side", "x", "") +
           R"(, {"wait": "side", "stream": "main"}, )" +
           work("side", "", "", R"(, "frees": ["x"], "record_stream": [)" + recorded + "]") +
           R"(, {"wait": "made", "on": "other"}, )" + work("other", "", "z", R"(, "alloc": "main")");
  };
  EXPECT_EQ(kinds(steps(freed("")), 1), (Kinds{{HazardKind::kFreeBeforeLastUse, 1}}));
  EXPECT_EQ(kinds(steps(freed(R"("main")")), 1), (Kinds{{HazardKind::kFreeBeforeLastUse, 1}}));
  EXPECT_EQ(kinds(steps(freed(R"("side")")), 1), Kinds{});
}

// Recorded on other, which waited for main before the memory was given back: that is as good as main itself.
TEST(Lifetimes, RecordedStreamsKeepWhatTheyWaitedFor) {
  EXPECT_EQ(kinds(steps(work("side", "", "x", R"(, "record_stream": ["other"], "kept_until": "iteration_end")") +
                        kMainWaits + work("main", "x", "") + R"(, {"wait": "main", "stream": "other"})")),
            Kinds{});
}

// Until a stream waits for it: from then on its memory is free for all that comes behind its pool's stream, whether or
// not that waits, too. Where none waits, to its end.
TEST(Lifetimes, ACollectiveKeepsWhatItUsesUntilItIsAwaited) {
  const std::string make = work("side", "", "x");
  const auto exchange = [](const std::string& more) {
    return R"({"stage": "all_to_all", "batch": 0, "stream": "side", "async": true, "reads": ["x"], "record": "sent")" +
           more + "}";
  };
  const auto awaited_on = [](const std::string& stream) { return R"(, {"wait": "sent", "on": ")" + stream + "\"}"; };
  EXPECT_EQ(kinds(steps(make + kThen + exchange(""))), Kinds{});
  EXPECT_EQ(kinds(steps(make + kThen + exchange("") + awaited_on("host"))), Kinds{});
  EXPECT_EQ(kinds(steps(make + kThen + exchange("") + awaited_on("side"))), Kinds{});
  // The next x is made in front of the end of the exchange.
  const Kinds reused{{HazardKind::kFreeBeforeLastUse, 1}};
  EXPECT_EQ(kinds(steps(make + kThen + exchange("") + awaited_on("main"))), reused);
  EXPECT_EQ(kinds(steps(make + kThen + exchange("") + awaited_on("main") + R"(, {"wait": "main", "stream": "side"})")),
            Kinds{});
  const std::string recorded = work("side", "", "x", R"(, "record_stream": ["main"])");
  EXPECT_EQ(kinds(steps(recorded + kThen + exchange("") + awaited_on("main"))), Kinds{});
  // A storage without memory is of no use to who holds it.
  EXPECT_EQ(kinds(steps(make + kThen + exchange(R"(, "frees": ["x"])"))), reused);
}

TEST(Lifetimes, WhatIsFreedByNameIsFreedAtOnce) {
  const std::string make = work("main", "", "x");
  const std::string copy = kSideWaits + work("side", "x", "", R"(, "frees": ["x"])");
  const std::string next = kThen + work("main", "", "y");
  const std::string join = R"(, {"wait": "side", "stream": "main"})";
  EXPECT_EQ(kinds(steps(make + copy + next + join), 1), (Kinds{{HazardKind::kFreeBeforeLastUse, 1}}));
  EXPECT_EQ(kinds(steps(make + copy + join + next), 1), Kinds{});
  const std::string kept = R"(, {"wait": "main", "stream": "side"}, )" +
                           work("side", "x", "", R"(, "frees": ["x"], "record_stream": ["side"])");
  EXPECT_EQ(kinds(steps(make + kept + next + join), 1), Kinds{});
  EXPECT_EQ(kinds(steps(make + kThen + work("main", "", "", R"(, "frees": ["x"])") + kThen + work("main", "x", "")), 1),
            (Kinds{{HazardKind::kReadAfterFree, 1}}));
}

// What side writes lies in main's pool, where a block may just have been freed that main's queued work still uses.
TEST(Pools, OfAnotherStreamNeedItsWorkToBeDone) {
  // y is kept, so that its own memory is not what x gets.
  const std::string before = work("main", "", "y", R"(, "kept_until": "iteration_end")") + kThen;
  const std::string inplace = work("side", "", "x", R"(, "alloc": "main")");
  EXPECT_EQ(kinds(steps(before + inplace), 1), (Kinds{{HazardKind::kMemoryStillInUse, 1}}));
  EXPECT_EQ(kinds(steps(before + work("side", "", "x", R"(, "alloc": "main", "after": ["main"])")), 1), Kinds{});
}

TEST(HostReads, WaitForTheirCopy) {
  const auto validate = [](const std::string& words) {
    return work("main", "", "x") + R"(, {"stage": "validate_output", "batch": 0, "stream": "main", "reads": ["x"], )" +
           words;
  };
  const Kinds unfinished{{HazardKind::kUnfinishedHostRead, 1}};
  EXPECT_EQ(kinds(steps(validate(R"("mode": "blocking"})")), 1), Kinds{});
  EXPECT_EQ(kinds(steps(validate(R"("mode": "unsafe"})")), 1), unfinished);
  EXPECT_EQ(kinds(steps(validate(R"("mode": "event", "record": "e"}, {"wait": "e", "on": "host"})")), 1), Kinds{});
  EXPECT_EQ(kinds(steps(validate(R"("mode": "event", "record": "e"})")), 1), unfinished);
  EXPECT_EQ(kinds(steps(validate(R"("mode": "event", "record": "e"}, {"wait": "e", "on": "side"})")), 1), unfinished);
}

}  // namespace
}  // namespace interlace::check
