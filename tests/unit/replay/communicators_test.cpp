#include "simulator/replay/communicators.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::replay {
namespace {

class CommunicatorsTest : public testing::Test {
 protected:
  trace::TraceBuilder builder;
  Diagnostics diagnostics;
  stages::Cut cut;

  CommunicatorsTest() {
    for (int r = 0; r < 4; ++r) cut.ranks.push_back({.rank = builder.add_rank({.number = r})});
  }

  trace::LaneId stream(std::uint32_t rank) { return builder.lane(trace::LaneKind::kStream, {rank}, 0, 7); }
  /// One kernel of a collective on each of these ranks.
  void run(std::initializer_list<std::uint32_t> ranks, std::string_view group, std::int32_t size, Nanoseconds start) {
    for (const std::uint32_t r : ranks) {
      builder.add_collective(
          {.lane = stream(r), .name = builder.intern(group), .start = start, .duration = 100 * kMicrosecond}, {},
          trace::CollectiveDetail{
              .function = trace::CollectiveFunction::kAllReduce, .group = builder.intern(group), .group_size = size});
    }
  }
};

TEST_F(CommunicatorsTest, HoldTheRanksOfTheirGroup) {
  run({0, 1, 2, 3}, "0", 4, 0);
  run({0, 2}, "mesh_dp", 2, kMillisecond);
  run({1, 3}, "mesh_dp", 2, 2 * kMillisecond);
  run({0, 1, 2, 3}, "", 0, 3 * kMillisecond);
  builder.add_kernel({.lane = stream(0), .name = builder.intern("kernel"), .start = 5 * kMillisecond, .duration = 1},
                     {});
  const trace::Trace trace = std::move(builder).build(diagnostics);
  const graph::ProcessGroups groups(trace, diagnostics);
  const Communicators communicators(groups, cut);
  EXPECT_EQ(communicators.all(), (std::vector<Members>{{0, 1, 2, 3}, {0, 2}, {1, 3}}));
  for (std::uint32_t op = 0; op < trace.size(); ++op) {
    const std::uint32_t of_mesh = trace.rank_of({op}).value % 2 + 1;
    EXPECT_EQ(communicators.of({op}), trace.name({op}) == "mesh_dp" ? of_mesh : Communicators::kAll);
  }
  EXPECT_EQ(diagnostics.count_of(graph::kAmbiguousGroup.code), 0);
}

TEST_F(CommunicatorsTest, HoldAllWhoMayMeetWhereGroupsRunSideBySide) {
  run({0, 1, 3}, "mesh_dp", 2, 0);
  const trace::Trace trace = std::move(builder).build(diagnostics);
  const graph::ProcessGroups groups(trace, diagnostics);
  const Communicators communicators(groups, cut);
  EXPECT_EQ(communicators.all(), (std::vector<Members>{{0, 1, 2, 3}, {0, 1, 3}}));
  EXPECT_EQ(diagnostics.count_of(graph::kAmbiguousGroup.code), 3);
}

// Replay counts ranks by their places in the cut.
TEST_F(CommunicatorsTest, NameRanksByTheirPlacesInTheCut) {
  run({1, 2, 3}, "1", 3, 0);
  cut.ranks.erase(cut.ranks.begin(), cut.ranks.begin() + 2);
  cut.ranks.push_back({.rank = {0}});
  const trace::Trace trace = std::move(builder).build(diagnostics);
  const graph::ProcessGroups groups(trace, diagnostics);
  EXPECT_EQ(Communicators(groups, cut).all(), (std::vector<Members>{{0, 1, 2}, {0, 1}}));
}

}  // namespace
}  // namespace interlace::replay
