#include "simulator/replay/left_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/recorded_schedule.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

class LeftOut : public RecordedSample {
 protected:
  /// As if the recorder had lost the kernel of one collective of rank 0.
  void lose_collective(std::size_t iteration) {
    std::vector<stages::Item>& items = cut.ranks[0].iterations[iteration].items;
    const auto lost = std::ranges::find_if(items, [&](const stages::Item& item) {
      const auto launched = recording.trace.launched_by(item.call);
      return !launched.empty() && recording.trace.kind(launched.front()) == trace::OperationKind::kCollective;
    });
    ASSERT_NE(lost, items.end());
    items.erase(lost);
  }

  SimulationResult simulated(const SiteTable& sites) const {
    return simulate(compile(schedule::find("torchrec/sparse_dist"), cut, sites), sites, on_recorded_machine({}, sites));
  }

  static std::string code_of(auto&& call) {
    try {
      static_cast<void>(call());
    } catch (const Error& error) {
      return std::string(error.code());
    }
    return "none";
  }
};

TEST_F(LeftOut, AnIterationThatLacksACollectiveOnOneRankIsNotReplayed) {
  const double whole = statistics::mean(simulated(table).steps_ns);
  lose_collective(0);
  Diagnostics said;
  const SiteTable damaged = find_sites(recording.trace, cut, said);
  EXPECT_EQ(damaged.left_out, std::set<std::uint32_t>{0});
  EXPECT_EQ(said.count_of("replay.unmatched_iterations"), 1);
  EXPECT_NEAR(statistics::mean(simulated(damaged).steps_ns) / whole, 1, 0.02);
}

TEST_F(LeftOut, RanksAreCalledByTheirNumberInTheJob) {
  lose_collective(0);
  Diagnostics said;
  SiteTable damaged = find_sites(recording.trace, cut, said);
  damaged.rank_numbers = {4, 7};
  Diagnostics again;
  leave_out_iterations(cut, damaged, again);
  const std::string& where = again.entries().front().first_place;
  EXPECT_NE(where.find(" on rank 4, "), std::string::npos) << where;
  EXPECT_TRUE(where.ends_with(" on rank 7")) << where;
}

TEST_F(LeftOut, WhereAllLackOneTheReplayIsRefused) {
  lose_collective(0);
  lose_collective(1);
  Diagnostics said;
  const SiteTable damaged = find_sites(recording.trace, cut, said);
  EXPECT_EQ(code_of([&] { return simulated(damaged); }), kCollectivesDiffer.name);
}

TEST_F(LeftOut, AHostThatStoodStillForOnceIsNotReplayed) {
  for (stages::RankCut& rank : cut.ranks) {
    rank.iterations.assign(6, rank.iterations.front());
    rank.iterations.back().host.end += 4 * rank.iterations.front().host.length();
  }
  Diagnostics said;
  const SiteTable stalled = find_sites(recording.trace, cut, said);
  EXPECT_EQ(stalled.left_out, std::set<std::uint32_t>{5});
  EXPECT_EQ(said.count_of("replay.stalled_iterations"), 1);
  EXPECT_LT(stalled.step_ns, 2 * cut.ranks.front().iterations.front().host.length());
}

TEST_F(LeftOut, ARunInWhichRanksWaitForEachOtherForEverIsRefused) {
  Plan plan = compile(schedule::find("torchrec/sparse_dist"), cut, table);
  for (std::size_t k = 0; k < plan.programs[1].size(); ++k) {
    std::vector<Instruction>& instructions = plan.programs[1][k].instructions;
    const auto lost = std::ranges::find_if(instructions, [&](const Instruction& i) {
      const RecordedCall& call = table.ranks[1][k].calls[i.call];
      return i.kind == Instruction::Kind::kCall && call.works > 0 &&
             table.ranks[1][k].works[call.first_work].on_collective_stream;
    });
    ASSERT_NE(lost, instructions.end());
    instructions.erase(lost);
  }
  table.rank_numbers = {4, 7};
  try {
    static_cast<void>(simulate(plan, table, on_recorded_machine({}, table)));
    FAIL() << "it came to an end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kStuck.name);
    const std::string_view said = error.what();
    EXPECT_TRUE(said.find("rank 4 ") != said.npos || said.find("rank 7 ") != said.npos) << said;
  }
}

TEST_F(LeftOut, AReplayFarFromWhatWasRecordedIsTold) {
  const std::vector<schedule::Schedule> library = schedule::all_sound();
  Diagnostics said;
  static_cast<void>(recorded_schedule(library, recording.trace, cut, table, said));
  EXPECT_TRUE(said.empty());
  for (Site& site : table.sites) site.alone_ns /= 2;
  static_cast<void>(recorded_schedule(library, recording.trace, cut, table, said));
  EXPECT_EQ(said.count_of("replay.far_from_recorded"), 1);
}

}  // namespace
}  // namespace interlace::replay
