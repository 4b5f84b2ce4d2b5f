#include "simulator/trace/lane_name.hpp"

#include <gtest/gtest.h>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {
namespace {

TEST(LaneName, TellsLanesOfOneNameApart) {
  TraceBuilder builder;
  const RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  const RankId other = builder.add_rank({.number = 1, .source = "r1"});
  const LaneId copies = builder.lane(LaneKind::kStream, rank, 0, 13);
  const LaneId kernels = builder.lane(LaneKind::kStream, rank, 0, 14);
  const LaneId usual = builder.lane(LaneKind::kStream, rank, 0, 7);
  const LaneId nameless = builder.lane(LaneKind::kStream, rank, 0, 15);
  const LaneId thread = builder.lane(LaneKind::kHostThread, rank, 100, 101);
  const LaneId elsewhere = builder.lane(LaneKind::kStream, other, 0, 13);
  for (const LaneId lane : {copies, kernels, thread, elsewhere}) builder.name_lane(lane, "non-blocking");
  builder.name_lane(usual, "default");
  Diagnostics diagnostics;
  const Trace trace = std::move(builder).build(diagnostics);

  EXPECT_EQ(lane_name(trace, copies), "stream 13 (non-blocking)");
  EXPECT_EQ(lane_name(trace, kernels), "stream 14 (non-blocking)");
  EXPECT_EQ(lane_name(trace, usual), "default");
  EXPECT_EQ(lane_name(trace, nameless), "stream 15");
  // The only thread of that name, and the only stream of that name on its rank.
  EXPECT_EQ(lane_name(trace, thread), "non-blocking");
  EXPECT_EQ(lane_name(trace, elsewhere), "non-blocking");
}

}  // namespace
}  // namespace interlace::trace
