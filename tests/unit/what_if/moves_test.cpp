#include "simulator/what_if/moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"
#include "simulator/schedule/step_checks.hpp"
#include "simulator/schedule/validate.hpp"

namespace interlace::what_if {
namespace {

using schedule::Stage;
using schedule::StageStep;

/// The step of a stage; of backward the first.
const StageStep& step_of(const schedule::Schedule& schedule, Stage stage) {
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* step = std::get_if<StageStep>(&placed.step->action);
    if (step != nullptr && step->stage == stage) return *step;
  }
  throw std::logic_error("no such stage");
}

/// Where a stage stands in the host's order.
std::size_t place_of(const schedule::Schedule& schedule, Stage stage) {
  const auto steps = schedule::placed_steps(schedule);
  const auto found = std::ranges::find_if(steps, [stage](const schedule::PlacedStep& placed) {
    const auto* step = std::get_if<StageStep>(&placed.step->action);
    return step != nullptr && step->stage == stage;
  });
  return static_cast<std::size_t>(found - steps.begin());
}

schedule::Schedule moved(const std::string& start, const std::string& text) {
  const std::vector<Move> all = moves(schedule::load(start));
  const auto found = std::ranges::find(all, text, &Move::text);
  std::string texts;
  for (const Move& move : all) texts += move.text + "\n";
  if (found == all.end()) throw std::logic_error("no move \"" + text + "\" among\n" + texts);
  return found->schedule;
}

TEST(Moves, AllLeadToAnotherWellFormedSchedule) {
  for (const schedule::Schedule& start : schedule::all_sound()) {
    const std::vector<Move> all = moves(start);
    EXPECT_FALSE(all.empty()) << start.name;
    for (const Move& move : all) {
      EXPECT_TRUE(schedule::find_problems(move.schedule).empty()) << start.name << ": " << move.text;
      EXPECT_FALSE(schedule::same_pipeline(move.schedule, start)) << start.name << ": " << move.text;
    }
  }
}

TEST(Moves, PutAStageElsewhereInTheOrderOfTheHost) {
  const schedule::Schedule later = moved("sparse_dist", "copy_batch_to_gpu(i+2) above backward(i)");
  EXPECT_GT(place_of(later, Stage::kCopyBatchToGpu), place_of(later, Stage::kInputDistWait));
  EXPECT_LT(place_of(later, Stage::kCopyBatchToGpu), place_of(later, Stage::kBackward));
}

TEST(Moves, TakeTheWaitsOfAStageWithIt) {
  // {"wait": "copied", "batch": 2, "on": "data_dist"} stands above input_dist_start.
  const schedule::Schedule later = moved("semi_sync", "input_dist_start(i+2) above dense_forward(i)");
  const std::size_t place = place_of(later, Stage::kInputDistStart);
  ASSERT_GT(place, 0U);
  const auto steps = schedule::placed_steps(later);
  const auto* wait = std::get_if<schedule::WaitStep>(&steps[place - 1].step->action);
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(std::get<std::string>(wait->source), "copied");
}

TEST(Moves, ShiftWithABatchAllThatItNeeds) {
  const schedule::Schedule ahead = moved("sparse_dist", "output_dist_start(i) for i+1, and what it needs");
  EXPECT_EQ(step_of(ahead, Stage::kOutputDistStart).batch, 1);
  EXPECT_EQ(step_of(ahead, Stage::kEmbeddingLookup).batch, 1);
  EXPECT_EQ(step_of(ahead, Stage::kInputDistFinish).batch, 1);
  // It stands below them, so that it has to be a batch ahead.
  EXPECT_EQ(step_of(ahead, Stage::kInputDistWait).batch, 2);
  EXPECT_EQ(step_of(ahead, Stage::kInputDistStart).batch, 2);
  EXPECT_EQ(step_of(ahead, Stage::kCopyBatchToGpu).batch, 3);
  EXPECT_EQ(step_of(ahead, Stage::kDenseForward).batch, 0);
}

TEST(Moves, ShiftBackWhatNeedsAStage) {
  const schedule::Schedule ahead = moved("sparse_dist", "output_dist_start(i) for i+1, and what it needs");
  const std::vector<Move> all = moves(ahead);
  const auto back = std::ranges::find(all, "embedding_lookup(i+1) for i, and what needs it", &Move::text);
  ASSERT_NE(back, all.end());
  EXPECT_EQ(step_of(back->schedule, Stage::kEmbeddingLookup).batch, 0);
  EXPECT_EQ(step_of(back->schedule, Stage::kOutputDistStart).batch, 0);
  EXPECT_EQ(step_of(back->schedule, Stage::kInputDistFinish).batch, 1);
}

TEST(Moves, MakeStreamsAndTakeThemTogether) {
  const schedule::Schedule side = moved("sparse_dist", "embedding_lookup(i) on side");
  EXPECT_EQ(side.stream(step_of(side, Stage::kEmbeddingLookup).stream).name, "side");
  const schedule::Schedule own = moved("fused_sparse_dist", "lookup is a stream of its own");
  EXPECT_EQ(own.resolve(*own.stream_named("lookup")), *own.stream_named("lookup"));
  const schedule::Schedule one = moved("fused_sparse_dist_new_stream", "lookup is main");
  EXPECT_EQ(one.resolve(*one.stream_named("lookup")), *one.stream_named("main"));
}

TEST(Moves, CutLoopsAndJoinThem) {
  const schedule::Schedule cut = moved("sparse_dist", "the loop over modules in two, above embedding_lookup(i)");
  EXPECT_EQ(cut.iteration.size(), schedule::load("sparse_dist").iteration.size() + 1);
  const std::vector<Move> back = moves(cut);
  EXPECT_TRUE(std::ranges::any_of(
      back, [](const Move& move) { return schedule::same_pipeline(move.schedule, schedule::load("sparse_dist")); }));
}

TEST(Moves, CutBackwardAndMakeItWhole) {
  const schedule::Schedule parts = moved("sparse_dist", "backward in its two parts");
  const std::vector<Move> back = moves(parts);
  const auto whole = std::ranges::find(back, "backward whole", &Move::text);
  ASSERT_NE(whole, back.end());
  EXPECT_TRUE(schedule::same_pipeline(whole->schedule, schedule::load("sparse_dist")));
}

}  // namespace
}  // namespace interlace::what_if
