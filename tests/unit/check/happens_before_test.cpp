#include "simulator/check/happens_before.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "simulator/schedule/library.hpp"
#include "tests/unit/check/schedules.hpp"

namespace interlace::check {
namespace {

// The same relation the slow way: a graph of instructions, searched.
class Reachability {
 public:
  explicit Reachability(const Program& program) : after_(program.instructions.size()) {
    std::vector<std::vector<std::size_t>> on_lane(program.lanes.size());
    std::vector<std::size_t> mark_at(program.marks);
    std::vector<std::size_t> host;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction& instruction = program.instructions[i];
      if (instruction.kind == Instruction::Kind::kFree || instruction.cause == Instruction::Cause::kStageRead) continue;
      const std::size_t lane = instruction.lane.index();
      if (!on_lane[lane].empty()) after_[on_lane[lane].back()].push_back(i);
      if (!on_lane[0].empty()) after_[on_lane[0].back()].push_back(i);
      if (instruction.kind == Instruction::Kind::kMark) mark_at[instruction.mark.index()] = i;
      if (instruction.kind == Instruction::Kind::kWait) after_[mark_at[instruction.mark.index()]].push_back(i);
      on_lane[lane].push_back(i);
    }
  }

  [[nodiscard]] std::vector<bool> behind(std::size_t from) const {
    std::vector<bool> seen(after_.size());
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      for (const std::size_t next : after_[i]) {
        if (!seen[next]) open.push_back(next);
        seen[next] = true;
      }
    }
    return seen;
  }

 private:
  std::vector<std::vector<std::size_t>> after_;
};

TEST(HappensBefore, ClocksSayWhatASearchOfTheGraphSays) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const schedule::Schedule schedule = schedule::find(entry.name);
    UnrollOptions options;
    options.batches = 5;
    const Program program = unroll(schedule, options);
    const HappensBefore order(program, false);
    const Reachability graph(program);
    std::vector<std::size_t> run_at(program.operations.size());
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      if (program.instructions[i].kind == Instruction::Kind::kRun)
        run_at[program.instructions[i].operation.index()] = i;
    }
    for (OperationIndex a{0}; a.index() < run_at.size(); ++a.value) {
      const std::vector<bool> behind = graph.behind(run_at[a.index()]);
      for (OperationIndex b{0}; b.index() < run_at.size(); ++b.value) {
        ASSERT_EQ(order.before(a, b), behind[run_at[b.index()]])
            << entry.name << ": " << a.value << " before " << b.value;
      }
    }
  }
}

TEST(HappensBefore, AHostReadInsideAStageOrdersOnlyWhereItIsTrusted) {
  const schedule::Schedule schedule = schedule::find("torchrec/sparse_dist");
  UnrollOptions options;
  options.batches = 3;
  const Program program = unroll(schedule, options);
  const HappensBefore strict(program, false);
  const HappensBefore trusting(program, true);
  std::size_t more = 0;
  for (OperationIndex a{0}; a.index() < program.operations.size(); ++a.value) {
    for (OperationIndex b{0}; b.index() < program.operations.size(); ++b.value) {
      EXPECT_LE(strict.before(a, b), trusting.before(a, b));
      if (trusting.before(a, b) && !strict.before(a, b)) ++more;
    }
  }
  EXPECT_GT(more, 0U);
}

TEST(HappensBefore, NewestBeforeIsTheLastOfItsLane) {
  const schedule::Schedule schedule =
      steps(work("main", "", "x") + "," + work("main", "", "y") + R"(, {"wait": "main", "stream": "side"}, )" +
            work("main", "", "z") + "," + work("side", "x", ""));
  UnrollOptions options;
  options.batches = 1;
  const Program program = unroll(schedule, options);
  const HappensBefore order(program, false);
  const LaneIndex main = program.main;
  EXPECT_EQ(order.newest_before(main, {3}), OperationIndex{1});
  EXPECT_EQ(order.newest_before(program.operation({3}).lane, {3}), std::nullopt);
  EXPECT_EQ(order.newest_before(main, {1}), OperationIndex{0});
}

TEST(SteadyState, IsFoundAndThenNothingNewHappens) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const schedule::Schedule schedule = schedule::find(entry.name);
    const std::int64_t batches = batches_to_steady_state(schedule, {});
    EXPECT_LE(batches, 24) << entry.name;
    EXPECT_GT(batches, 2 * schedule::depth(schedule)) << entry.name;
  }
}

// Each stream waits for the other's work of ever earlier iterations: it takes some batches until that repeats.
TEST(SteadyState, WaitsUntilFarEventsAreMet) {
  const schedule::Schedule schedule =
      steps(work("main", "", "x", R"(, "record": "made")") + R"(, {"wait": "made", "on": "side", "batch": -9}, )" +
            work("side", "", "y"));
  EXPECT_GT(batches_to_steady_state(schedule, {}), 10);
}

}  // namespace
}  // namespace interlace::check
