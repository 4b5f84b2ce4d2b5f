#include "gui/session/draft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gui/session/verdict.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::gui {
namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::StageStep;
using schedule::WaitStep;

/// The row of a stage; of several, the first.
std::size_t row_of(const Draft& draft, Stage stage) {
  for (std::size_t row = 0; row < draft.rows().size(); ++row) {
    const auto* step = std::get_if<StageStep>(&draft.step(row).action);
    if (step != nullptr && step->stage == stage) return row;
  }
  throw std::logic_error("no such stage");
}

std::size_t row_of_kind(const Draft& draft, DraftRow::Kind kind) {
  const auto rows = draft.rows();
  const auto found = std::ranges::find(rows, kind, &DraftRow::kind);
  return static_cast<std::size_t>(found - rows.begin());
}

Draft sparse_dist() { return Draft(schedule::find("torchrec/sparse_dist")); }

TEST(Draft, IsAScheduleOfTheUsersOwnWithARowALine) {
  const Draft draft = sparse_dist();
  EXPECT_EQ(draft.schedule().name, "mine/sparse_dist");
  EXPECT_EQ(Draft(draft.schedule()).schedule().name, "mine/sparse_dist");
  const auto rows = draft.rows();
  ASSERT_EQ(rows.size(), 15U);  // 10 lines of the iteration; the for_each holds four and is one
  for (std::size_t row = 0; row < rows.size(); ++row) EXPECT_EQ(draft.step(row).line, static_cast<int>(row) + 1);
  EXPECT_EQ(rows[5].kind, DraftRow::Kind::kGroup);
  EXPECT_EQ(rows[6].inner, std::optional<std::size_t>(0));
  EXPECT_FALSE(draft.can_undo());
}

TEST(Draft, MovesARowAboveAnotherAndSaysWhereItIs) {
  Draft draft = sparse_dist();
  const Schedule before = draft.schedule();
  const std::size_t backward = row_of(draft, Stage::kBackward);
  ASSERT_EQ(draft.move(backward, 0), std::optional<std::size_t>(0));
  EXPECT_EQ(row_of(draft, Stage::kBackward), 0U);
  EXPECT_EQ(row_of(draft, Stage::kZeroGrad), 1U);
  ASSERT_EQ(draft.move(0, draft.rows().size()), std::optional<std::size_t>(14));
  EXPECT_EQ(row_of(draft, Stage::kBackward), 14U);
  EXPECT_EQ(draft.move(3, 3), std::nullopt);  // above itself, and behind itself
  EXPECT_EQ(draft.move(3, 4), std::nullopt);
  draft.undo();
  draft.undo();
  EXPECT_EQ(draft.schedule(), before);
  EXPECT_FALSE(draft.can_undo());
}

TEST(Draft, MovesRowsIntoAForEachWithinItAndOut) {
  Draft draft = sparse_dist();
  const std::size_t group = row_of_kind(draft, DraftRow::Kind::kGroup);  // its steps: rows group + 1 to group + 4
  ASSERT_EQ(draft.move(group + 1, group + 5), std::optional<std::size_t>(group + 4));
  EXPECT_EQ(draft.rows()[group + 4].inner, std::optional<std::size_t>(3)) << "its last place";
  ASSERT_EQ(draft.move(group + 4, group + 5), std::optional<std::size_t>(group + 4));
  EXPECT_EQ(draft.rows()[group + 4].inner, std::nullopt) << "from there it leaves";
  ASSERT_EQ(draft.move(0, group + 2), std::optional<std::size_t>(group + 1));  // the group has moved up by one
  EXPECT_EQ(draft.rows()[group + 1].inner, std::optional<std::size_t>(1)) << "behind the first of the steps left";
  EXPECT_EQ(draft.rows().size(), 15U);
}

TEST(Draft, MovesAForEachAsAWhole) {
  Draft draft = sparse_dist();
  const std::size_t group = row_of_kind(draft, DraftRow::Kind::kGroup);
  EXPECT_EQ(draft.move(group, group + 2), std::nullopt) << "not into itself";
  ASSERT_EQ(draft.move(group, 0), std::optional<std::size_t>(0));
  EXPECT_EQ(draft.rows()[4].inner, std::optional<std::size_t>(3));
  EXPECT_EQ(row_of(draft, Stage::kZeroGrad), 5U);
}

TEST(Draft, AForEachWithoutStepsIsGone) {
  Draft draft = sparse_dist();
  const std::size_t group = row_of_kind(draft, DraftRow::Kind::kGroup);
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(draft.remove(group + 1));
  EXPECT_EQ(row_of_kind(draft, DraftRow::Kind::kGroup), group);
  ASSERT_EQ(draft.rows().size(), 12U);
  ASSERT_EQ(draft.move(group + 1, 12), std::optional<std::size_t>(10));
  EXPECT_EQ(row_of_kind(draft, DraftRow::Kind::kGroup), draft.rows().size());
  EXPECT_EQ(row_of(draft, Stage::kOutputDistStart), draft.rows().size() - 1);
}

TEST(Draft, ChangesStreamBatchAndWaits) {
  Draft draft = sparse_dist();
  const std::size_t forward = row_of(draft, Stage::kDenseForward);
  EXPECT_TRUE(draft.set_stream(forward, "memcpy"));
  EXPECT_FALSE(draft.set_stream(forward, "memcpy")) << "nothing changes";
  EXPECT_FALSE(draft.set_stream(forward, "nowhere"));
  EXPECT_FALSE(draft.set_stream(forward, "host")) << "only waits are on the host";
  EXPECT_TRUE(draft.set_batch(forward, 3));
  EXPECT_FALSE(draft.set_batch(forward, schedule::kMaxBatch + 1));
  EXPECT_TRUE(draft.set_waits(forward, {"main", "data_dist"}));
  EXPECT_FALSE(draft.set_waits(forward, {"nowhere"}));
  const auto& step = std::get<StageStep>(draft.step(forward).action);
  EXPECT_EQ(step.stream, draft.schedule().stream_named("memcpy").value());
  EXPECT_EQ(step.batch, 3);
  EXPECT_EQ(step.after.size(), 2U);
  const std::size_t wait = row_of_kind(draft, DraftRow::Kind::kWait);
  EXPECT_FALSE(draft.set_batch(wait, 1)) << "of streams, all that is queued is waited for";
  EXPECT_TRUE(draft.set_stream(wait, "host"));
  EXPECT_EQ(std::get<WaitStep>(draft.step(wait).action).waiter, std::nullopt);
  EXPECT_FALSE(draft.add_stream("main"));
  EXPECT_TRUE(draft.add_stream("more"));
  EXPECT_TRUE(draft.set_stream(forward, "more"));
}

TEST(Draft, AddsAndDropsWaits) {
  Draft draft = sparse_dist();
  const Schedule before = draft.schedule();
  ASSERT_TRUE(draft.add_wait(7, "main", "memcpy"));
  EXPECT_EQ(draft.rows()[7].inner, std::optional<std::size_t>(1)) << "in the for_each of the row below";
  EXPECT_EQ(draft.rows()[7].kind, DraftRow::Kind::kWait);
  EXPECT_FALSE(draft.add_wait(7, "main", "nowhere"));
  EXPECT_TRUE(draft.remove(7));
  EXPECT_EQ(draft.schedule(), before);
  draft.undo();
  draft.undo();
  EXPECT_EQ(draft.schedule(), before);
  draft.redo();
  EXPECT_EQ(draft.rows().size(), 16U);
}

TEST(Draft, IsNotNamedLikeABuiltInSchedule) {
  Draft draft = sparse_dist();
  EXPECT_FALSE(draft.rename("torchrec/sparse_dist"));
  EXPECT_EQ(draft.schedule().name, "mine/sparse_dist");
  EXPECT_TRUE(draft.rename("mine/other"));
}

TEST(Verdict, OfAShippedScheduleHasNoHazards) {
  const Verdict verdict = verdict_of(sparse_dist().schedule());
  EXPECT_TRUE(verdict.can_run);
  EXPECT_EQ(verdict.count(Gravity::kHazard), 0U);
  EXPECT_EQ(verdict.count(Gravity::kWrong), 0U);
}

/// What a verdict says with this gravity, all together.
std::string told(const Verdict& verdict, Gravity gravity) {
  std::string text;
  for (const Remark& remark : verdict.remarks) {
    if (remark.gravity == gravity) text += remark.text + "\n";
  }
  return text;
}

TEST(Verdict, TellsOfOtherNumbersThanASynchronousLoopComputes) {
  EXPECT_EQ(verdict_of(sparse_dist().schedule()).count(Gravity::kNumbers), 0U);
  Draft draft(schedule::find("torchrec/staged"));
  const std::size_t optimizer = row_of(draft, Stage::kOptimizerStep);
  ASSERT_TRUE(draft.move(optimizer, row_of(draft, Stage::kBackward)));
  const Verdict verdict = verdict_of(draft.schedule());
  EXPECT_EQ(verdict.count(Gravity::kHazard), 0U);
  EXPECT_NE(told(verdict, Gravity::kNumbers).find("optimizer_step"), std::string::npos);
  const Verdict late = verdict_of(schedule::find("torchrec/semi_sync"));
  EXPECT_NE(told(late, Gravity::kNumbers).find("1 update late"), std::string::npos);
}

TEST(Verdict, TellsOfHazardsThatAreKnownAndWhyTheyStay) {
  const Verdict verdict = verdict_of(schedule::find("torchrec/fused_sparse_dist"));
  EXPECT_EQ(verdict.count(Gravity::kHazard), 0U);
  EXPECT_EQ(verdict.known_hazards, 1U);
  EXPECT_NE(told(verdict, Gravity::kKnown).find("output_exchange"), std::string::npos);
  EXPECT_NE(told(verdict, Gravity::kKnown).find("TorchRec does not record it there"), std::string::npos);
}

TEST(Verdict, IsOfTheJobsNumberOfRanks) {
  const schedule::Schedule schedule = schedule::find("torchrec/fused_sparse_dist_new_stream");
  EXPECT_EQ(verdict_of(schedule).count(Gravity::kHazard), 0U);
  EXPECT_GT(verdict_of(schedule, true).count(Gravity::kHazard), 0U);
}

TEST(Verdict, AWaitEditedAwayIsToldOnTheLinesThatRace) {
  Draft draft = sparse_dist();
  std::size_t wait = 0;
  for (std::size_t row = 0; row < draft.rows().size(); ++row) {
    if (draft.rows()[row].inner && draft.rows()[row].kind == DraftRow::Kind::kWait) wait = row;
  }
  ASSERT_TRUE(draft.remove(wait));
  const Verdict verdict = verdict_of(draft.schedule());
  EXPECT_TRUE(verdict.can_run);
  ASSERT_GT(verdict.count(Gravity::kHazard), 0U);
  // What the lookup on "main" reads is written by input_dist_finish on "data_dist": that is what the wait was for.
  const auto lookup = static_cast<int>(row_of(draft, Stage::kEmbeddingLookup)) + 1;
  const bool told = std::ranges::any_of(verdict.remarks, [&](const Remark& remark) {
    return remark.gravity == Gravity::kHazard && remark.line == lookup &&
           remark.text.find("input_dist_finish") != std::string::npos;
  });
  EXPECT_TRUE(told);
  ASSERT_TRUE(verdict.repaired);
  draft.replace(*verdict.repaired);
  EXPECT_EQ(draft.schedule().name, "mine/sparse_dist");
  EXPECT_EQ(verdict_of(draft.schedule()).count(Gravity::kHazard), 0U);
}

TEST(Verdict, WhatCannotRunSaysWhere) {
  Draft draft = sparse_dist();
  const std::size_t backward = row_of(draft, Stage::kBackward);
  draft.move(backward, 0);
  const Verdict verdict = verdict_of(draft.schedule());
  EXPECT_FALSE(verdict.can_run);
  EXPECT_TRUE(std::ranges::any_of(
      verdict.remarks, [](const Remark& remark) { return remark.gravity == Gravity::kWrong && remark.line == 1; }));
}

TEST(Verdict, KnowsWhatOnlyTheReaderOfFilesKnows) {
  Draft draft = sparse_dist();
  const std::size_t start = row_of(draft, Stage::kInputDistStart);
  ASSERT_TRUE(draft.set_waits(start, {"data_dist"}));  // its own stream
  const Verdict verdict = verdict_of(draft.schedule());
  EXPECT_FALSE(verdict.can_run);
  ASSERT_EQ(verdict.remarks.size(), 1U);
  EXPECT_EQ(verdict.remarks[0].line, static_cast<int>(start) + 1) << "the row, not the line of the file";
}

/// One edit at random; many change nothing.
void edit(Draft& draft, std::mt19937& random) {
  const auto pick = [&](std::size_t below) { return below == 0 ? 0 : random() % below; };
  const std::size_t rows = draft.rows().size();
  const auto stream = [&] { return draft.schedule().streams[pick(draft.schedule().streams.size())].name; };
  switch (pick(6)) {
    case 0: draft.move(pick(rows), pick(rows + 1)); break;
    case 1: draft.set_batch(pick(rows), static_cast<std::int32_t>(pick(3))); break;
    case 2: draft.set_stream(pick(rows), stream()); break;
    case 3: draft.set_waits(pick(rows), {stream()}); break;
    case 4: draft.add_wait(pick(rows + 1), stream(), stream()); break;
    default: draft.remove(pick(rows)); break;
  }
}

TEST(Draft, UndoneEditByEditItIsWhatItWasAndWhatCanRunIsAFileThatCanBeRead) {
  std::mt19937 random(11);
  std::size_t runnable = 0;
  for (const Schedule& from : schedule::all_sound()) {
    for (int round = 0; round < 5; ++round) {
      Draft draft(from);
      const Schedule begun = draft.schedule();
      for (int edits = 0; edits < 4; ++edits) {
        edit(draft, random);
        const auto rows = draft.rows();
        for (std::size_t row = 0; row < rows.size(); ++row) ASSERT_EQ(draft.step(row).line, static_cast<int>(row) + 1);
        const Schedule& now = draft.schedule();
        if (!verdict_of(now).can_run) continue;
        ++runnable;
        ASSERT_EQ(schedule::parse(schedule::print(now), now.source), now) << schedule::print(now);
      }
      const Schedule last = draft.schedule();
      std::size_t undone = 0;
      for (; draft.can_undo(); ++undone) draft.undo();
      EXPECT_EQ(draft.schedule(), begun);
      for (; undone > 0; --undone) draft.redo();
      EXPECT_EQ(draft.schedule(), last);
      EXPECT_FALSE(draft.can_redo());
    }
  }
  EXPECT_GT(runnable, 20U);
}

TEST(Verdict, CountsALineOfSeveralRacesOnce) {
  Verdict verdict;
  verdict.remarks = {
      {Gravity::kHazard, 3, "a"}, {Gravity::kHint, 3, "b"}, {Gravity::kHazard, 3, "c"}, {Gravity::kHazard, 5, "d"}};
  EXPECT_EQ(verdict.count(Gravity::kHazard), 3U);
  EXPECT_EQ(verdict.count_lines(Gravity::kHazard), 2U);
}

}  // namespace
}  // namespace interlace::gui
