#include "simulator/replay/host_disturbance.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

constexpr stages::SegmentKey kLookup{schedule::Stage::kEmbeddingLookup, stages::Piece::kWhole, {}};
constexpr stages::SegmentKey kBackward{schedule::Stage::kBackward, stages::Piece::kDense, {}};

RecordedIteration iteration(Nanoseconds lookup, Nanoseconds backward) {
  RecordedIteration one;
  one.calls.push_back({.call = std::nullopt, .segment = kLookup, .gap = lookup - 10, .duration = 10});
  one.calls.push_back({.call = std::nullopt, .segment = kBackward, .gap = backward - 10, .duration = 10});
  return one;
}

TEST(HostDisturbance, AThreadFarBeyondThatOfTheQuickestRankIsDisturbed) {
  SiteTable table;
  Diagnostics said;
  table.ranks = {{iteration(1000, 500)}, {iteration(2000, 500)}, {iteration(1200, 1000)}};
  table.rank_numbers = {4, 7, 9};
  const auto hosts = undisturbed_hosts(table, said);
  ASSERT_EQ(hosts.size(), 3U);
  EXPECT_EQ(hosts[0][0].part(kLookup), 1.0);
  EXPECT_EQ(hosts[0][0].part(kBackward), 1.0);
  EXPECT_DOUBLE_EQ(hosts[1][0].part(kLookup), kUnevenHosts * 1000 / 2000);
  EXPECT_EQ(hosts[1][0].part(kBackward), 1.0);
  EXPECT_EQ(hosts[2][0].part(kLookup), 1.0);
  EXPECT_DOUBLE_EQ(hosts[2][0].part(kBackward), kUnevenHosts * 500 / 1000);
  EXPECT_EQ(said.count_of("replay.disturbed_host"), 2);
  EXPECT_TRUE(said.entries().front().first_place.starts_with("rank 7,")) << "its number in the job";
}

TEST(HostDisturbance, ASlowIterationIsDisturbedByItselfAndNotTheRank) {
  SiteTable table;
  Diagnostics said;
  table.ranks = {{iteration(1000, 500), iteration(1000, 500), iteration(1000, 500)},
                 {iteration(1000, 500), iteration(9000, 500), iteration(1400, 500)}};
  table.rank_numbers = {4, 7};
  const auto hosts = undisturbed_hosts(table, said);
  EXPECT_DOUBLE_EQ(hosts[1][1].part(kLookup), kUnevenHosts * 1000 / 1400 * kUnevenIterations * 1400 / 9000);
  EXPECT_EQ(hosts[1][1].part(kBackward), 1.0);
  EXPECT_DOUBLE_EQ(hosts[1][0].part(kLookup), kUnevenHosts * 1000 / 1400) << "of the rank alone";
  EXPECT_EQ(hosts[0][1].part(kLookup), 1.0);
  EXPECT_EQ(said.count_of("replay.disturbed_iteration"), 1);
  for (const Diagnostic& one : said.entries()) EXPECT_TRUE(one.first_place.starts_with("rank 7,")) << one.first_place;
}

TEST(HostDisturbance, IterationsThatAreLeftOutDoNotCount) {
  SiteTable table;
  Diagnostics said;
  table.ranks = {{iteration(1000, 500), iteration(1000, 500)}, {iteration(5000, 500), iteration(1000, 500)}};
  table.rank_numbers = {0, 1};
  table.left_out = {0};
  EXPECT_EQ(undisturbed_hosts(table, said)[1][1].part(kLookup), 1.0);
  table.left_out = {0, 1};
  EXPECT_EQ(undisturbed_hosts(table, said)[1][1].part(kLookup), 1.0);
}

TEST(HostDisturbance, ARankOfItsOwnHasNobodyToBeComparedWith) {
  SiteTable table;
  Diagnostics said;
  table.ranks = {{iteration(1000, 500)}};
  table.rank_numbers = {0};
  EXPECT_EQ(undisturbed_hosts(table, said)[0][0].part(kLookup), 1.0);
}

using DisturbedSample = RecordedSample;

// A host at a third of its pace decides how long a step takes. The other rank tells that it is not the program's.
TEST_F(DisturbedSample, PredictionsLeaveTheDisturbanceOut) {
  const auto step = [&](const SiteTable& sites, const SimulationOptions& options) {
    const Plan plan = compile(schedule::find("torchrec/base"), cut, sites);
    return statistics::mean(simulate(plan, sites, on_recorded_machine(options, sites)).steps_ns);
  };
  SiteTable disturbed = table;
  Diagnostics said;
  for (RecordedIteration& recorded : disturbed.ranks[1]) {
    for (RecordedCall& call : recorded.calls) {
      call.gap *= 4;
      call.duration *= 4;
    }
  }
  disturbed.undisturbed = undisturbed_hosts(disturbed, said);
  EXPECT_NEAR(step(disturbed, {}) / step(table, {}), 1.0, 0.04);
  EXPECT_GT(step(disturbed, {.as_recorded = true}) / step(table, {.as_recorded = true}), 1.2);
}

}  // namespace
}  // namespace interlace::replay
