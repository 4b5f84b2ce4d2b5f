// Snapping, measuring, searching and following dependencies.
#include <gtest/gtest.h>

#include <algorithm>

#include "gui/timeline/dependencies.hpp"
#include "gui/timeline/measure.hpp"
#include "gui/timeline/names.hpp"
#include "gui/timeline/search.hpp"
#include "gui/timeline/snap.hpp"
#include "simulator/graph/graph.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

using trace::OperationId;

trace::Trace two_streams() {
  SmallTrace small;
  const auto a = small.stream(1);
  const auto b = small.stream(2);
  small.kernel(a, "gemm", 0, 100);
  small.kernel(a, "gemm", 200, 260);
  small.kernel(b, "relu", 50, 90);
  small.kernel(b, "relu", 250, 400);
  return small.build();
}

std::vector<RowIndex> all_rows(const Lanes& lanes) {
  std::vector<RowIndex> rows;
  for (RowIndex i = 0; i < lanes.rows.size(); ++i) rows.push_back(i);
  return rows;
}

TEST(Snap, FindsTheNearestEdgeOfTheGivenRows) {
  const trace::Trace trace = two_streams();
  const Lanes lanes = lay_out(trace);
  const auto all = all_rows(lanes);
  EXPECT_EQ(nearest_edge(lanes, all, 93, 5), std::optional<Nanoseconds>(90));
  EXPECT_EQ(nearest_edge(lanes, all, 97, 5), std::optional<Nanoseconds>(100));
  EXPECT_EQ(nearest_edge(lanes, all, 95, 5), std::optional<Nanoseconds>(90));  // the earlier of equals
  EXPECT_EQ(nearest_edge(lanes, all, 150, 20), std::nullopt);
  const RowIndex first = row_of(lanes, trace, named(trace, "gemm")).value();
  EXPECT_EQ(nearest_edge(lanes, std::vector{first}, 93, 10), std::optional<Nanoseconds>(100));
}

TEST(Measure, CountsSumsAndUnites) {
  const trace::Trace trace = two_streams();
  const Lanes lanes = lay_out(trace);
  // [60, 300): gemm 0-100 and relu 250-400 are cut, relu 50-90 too; gemm 200-260 lies inside.
  const RangeTotals totals = measure(trace, lanes, all_rows(lanes), {60, 300});
  EXPECT_EQ(totals.count, 4);
  EXPECT_EQ(totals.cut, 3);
  EXPECT_EQ(totals.sum, 100 + 60 + 40 + 150);
  EXPECT_EQ(totals.shortest, 40);
  EXPECT_EQ(totals.longest, 150);
  EXPECT_EQ(totals.average(), 88);   // 350 / 4 = 87.5
  EXPECT_EQ(totals.busy, 40 + 100);  // 60-100 and 200-300
  ASSERT_EQ(totals.names.size(), 2U);
  EXPECT_EQ(trace.text(totals.names[0].name), "relu");
  EXPECT_EQ(totals.names[0].sum, 190);
  EXPECT_EQ(totals.names[1].count, 2);
}

TEST(Measure, WhatOnlyTouchesIsOutside) {
  const trace::Trace trace = two_streams();
  const Lanes lanes = lay_out(trace);
  EXPECT_EQ(measure(trace, lanes, all_rows(lanes), {100, 200}).count, 0);
}

TEST(Search, GoesRoundInBothDirections) {
  const trace::Trace trace = two_streams();
  const SearchHits hits(trace, "^GE");
  ASSERT_EQ(hits.operations().size(), 2U);
  const auto first = hits.next(std::nullopt);
  ASSERT_TRUE(first);
  EXPECT_EQ(trace.start(*first), 0);
  const auto second = hits.next(first);
  EXPECT_EQ(trace.start(*second), 200);
  EXPECT_EQ(hits.next(second), first);
  EXPECT_EQ(hits.previous(first), second);
  EXPECT_EQ(hits.number_of(*second), 2U);
  EXPECT_EQ(hits.next(named(trace, "relu")), second);  // behind something that is no hit
  EXPECT_EQ(hits.number_of(named(trace, "relu")), 0U);
}

TEST(Search, RefusesABrokenPattern) {
  const trace::Trace trace = two_streams();
  try {
    const SearchHits hits(trace, "gemm(");
    FAIL() << "found " << hits.operations().size();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadPattern.name);
    EXPECT_EQ(error.place(), "gemm(");
  }
}

TEST(Dependencies, LeadFromTheCallToItsWorkAndBack) {
  SmallTrace small;
  const auto thread = small.thread(1);
  const auto stream = small.stream(7);
  small.call(thread, "cudaLaunchKernel", 0, 10, 5);
  small.kernel(stream, "gemm", 20, 50, 5);
  const trace::Trace trace = small.build();
  Diagnostics counted;
  const graph::Graph graph(trace, counted);
  const Dependency launch{named(trace, "cudaLaunchKernel"), named(trace, "gemm"), DependencyKind::kLaunch};
  EXPECT_EQ(dependencies_of(graph, launch.from), std::vector{launch});
  EXPECT_EQ(dependencies_of(graph, launch.to), std::vector{launch});
}

TEST(Dependencies, LeadBetweenPeersOfACollective) {
  trace::TraceBuilder builder;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    const auto id = builder.add_rank({.number = rank, .world_size = 2});
    const auto stream = builder.lane(trace::LaneKind::kStream, id, 0, 7);
    const auto thread = builder.lane(trace::LaneKind::kHostThread, id, 1, 1);
    builder.add_host_call({thread, builder.intern("launch"), 0, 5, 1});
    trace::CollectiveDetail detail{.function = trace::CollectiveFunction::kAllReduce};
    detail.name = builder.intern("allreduce");
    detail.group = builder.intern("0");
    detail.group_size = 2;
    builder.add_collective({stream, builder.intern("nccl"), 10 + rank, 50, 1}, {}, detail);
  }
  Diagnostics counted;
  const trace::Trace trace = std::move(builder).build(counted);
  const graph::Graph graph(trace, counted);
  std::vector<OperationId> parts;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (trace.kind({i}) == trace::OperationKind::kCollective) parts.push_back({i});
  }
  ASSERT_EQ(parts.size(), 2U);
  const std::vector<Dependency> found = dependencies_of(graph, parts[0]);
  EXPECT_NE(std::ranges::find(found, Dependency{parts[1], parts[0], DependencyKind::kCollectivePeer}), found.end());
}

TEST(Names, AreShort) {
  SmallTrace small;
  small.annotation(small.thread(1), "## forward 3 ##", 0, 1);
  small.kernel(small.stream(7), "void a::gemm<4>(float*, int)", 0, 1);
  const trace::Trace trace = small.build();
  EXPECT_EQ(short_name(trace, named(trace, "## forward 3 ##")), "forward 3");
  EXPECT_EQ(short_name(trace, named(trace, "void a::gemm<4>(float*, int)")), "a::gemm<4>");
  EXPECT_EQ(file_name("some/folder/r0.json"), "r0.json");
}

}  // namespace
}  // namespace interlace::gui
