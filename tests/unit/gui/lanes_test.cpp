#include "gui/timeline/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gui/timeline/placement.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

using trace::OperationId;

std::uint32_t level_of(const Lanes& lanes, const trace::Trace& trace, std::string_view name) {
  return lanes.rows[row_of(lanes, trace, named(trace, name)).value()].level;
}

TEST(Lanes, OverlapOnAStreamIsShownBelow) {
  SmallTrace small;
  const auto stream = small.stream(7);
  small.kernel(stream, "a", 0, 100);
  small.kernel(stream, "b", 40, 60);
  small.kernel(stream, "c", 50, 120);
  small.kernel(stream, "d", 100, 130);  // a is over: its row is free again
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  ASSERT_EQ(lanes.lanes.size(), 1U);
  EXPECT_EQ(lanes.lanes.front().work_rows, 3U);
  EXPECT_EQ(level_of(lanes, trace, "a"), 0U);
  EXPECT_EQ(level_of(lanes, trace, "b"), 1U);
  EXPECT_EQ(level_of(lanes, trace, "c"), 2U);
  EXPECT_EQ(level_of(lanes, trace, "d"), 0U);
}

TEST(Lanes, RowsOfAThreadAreDepthsOfNesting) {
  SmallTrace small;
  const auto thread = small.thread(1);
  small.annotation(thread, "outer", 0, 100);
  small.annotation(thread, "inner", 10, 50);
  small.call(thread, "call", 20, 30);
  small.call(thread, "sibling", 60, 70);  // directly in outer
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  EXPECT_EQ(level_of(lanes, trace, "outer"), 0U);
  EXPECT_EQ(level_of(lanes, trace, "inner"), 1U);
  EXPECT_EQ(level_of(lanes, trace, "call"), 2U);
  EXPECT_EQ(level_of(lanes, trace, "sibling"), 1U);
}

TEST(Lanes, ACallThatOutlastsItsRangeDoesNotPushDownWhatFollows) {
  SmallTrace small;
  const auto thread = small.thread(1);
  small.annotation(thread, "first", 0, 100);
  small.call(thread, "late", 90, 101);
  small.annotation(thread, "second", 100, 200);
  small.call(thread, "call", 150, 160);
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  EXPECT_EQ(level_of(lanes, trace, "late"), 1U);
  EXPECT_EQ(level_of(lanes, trace, "second"), 0U);
  EXPECT_EQ(level_of(lanes, trace, "call"), 1U);
}

TEST(Lanes, ShowEveryOperationOnceAndNoneOverAnother) {
  Diagnostics counted;
  const trace::Trace trace = trace::sample_trace(counted);
  const Lanes lanes = lay_out(trace);
  std::vector<int> shown(trace.size(), 0);
  for (const Row& row : lanes.rows) {
    Nanoseconds free_from = INT64_MIN;
    for (const OperationId op : row.operations) {
      ++shown[op.index()];
      EXPECT_EQ(trace.lane_of(op), row.lane);
      EXPECT_GE(trace.start(op), free_from);
      free_from = trace.end(op);
    }
  }
  EXPECT_TRUE(std::ranges::all_of(shown, [](int times) { return times == 1; }));
}

TEST(Lanes, OrdersThreadsAndStreamsByUse) {
  SmallTrace small;
  const auto copies = small.stream(3);
  const auto main = small.stream(9);
  const auto watchdog = small.thread(1);
  const auto python = small.thread(5);
  small.builder().add_copy(
      {copies, small.builder().intern("copy"), 0, 10, 1},
      {.bytes = 1, .source = trace::MemorySpace::kPinned, .destination = trace::MemorySpace::kDevice});
  small.kernel(main, "kernel", 0, 100, 2);
  small.annotation(python, "forward", 0, 50);
  small.call(python, "launch", 0, 1, 2);
  small.call(watchdog, "query", 0, 1);
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  std::vector<std::string> titles;
  for (const LaneRows& lane : lanes.lanes) titles.push_back(lane.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"host main", "stream 9", "stream 3", "thread 1"}));
  EXPECT_EQ(lanes.lanes[1].remark, "main");
  EXPECT_EQ(lanes.lanes[2].remark, "copy");
}

TEST(Lanes, StreamsOfOneNameAreToldApartByNumber) {
  SmallTrace small;
  small.kernel(small.stream(7, "non-blocking"), "a", 0, 300);
  small.kernel(small.stream(9, "non-blocking"), "b", 0, 200);
  small.kernel(small.stream(8, "main (priority -1)"), "c", 0, 100);
  const trace::Trace trace = small.build();
  std::vector<std::string> titles;
  for (const LaneRows& lane : lay_out(trace).lanes) titles.push_back(lane.title);
  std::ranges::sort(titles);
  EXPECT_EQ(titles, (std::vector<std::string>{"main", "non-blocking 7", "non-blocking 9"}));
}

TEST(Lanes, FindsTheOperationAtOrNearAPoint) {
  SmallTrace small;
  const auto stream = small.stream(7);
  small.kernel(stream, "a", 100, 200);
  small.kernel(stream, "b", 300, 310);
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  const Row& row = lanes.rows.front();
  EXPECT_EQ(operation_at(row, 50, 0), std::optional<OperationId>(named(trace, "a")));  // times begin at 0
  EXPECT_EQ(operation_at(row, 105, 10), std::optional<OperationId>(named(trace, "a")));
  EXPECT_EQ(operation_at(row, 195, 10), std::optional<OperationId>(named(trace, "b")));
  EXPECT_EQ(operation_at(row, 150, 10), std::nullopt);
}

TEST(Placement, CompactLeavesOutRowsAndSaysHowMany) {
  SmallTrace small;
  const auto stream = small.stream(7);
  small.kernel(stream, "a", 0, 100);
  small.kernel(stream, "b", 50, 100);
  small.builder().add_device_range({stream, small.builder().intern("range"), 0, 100, {}}, {});
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  LaneChoice choice = LaneChoice::compact(lanes, 1);
  const RowHeights heights;
  const Placement compact = place(trace, lanes, choice, heights);
  ASSERT_EQ(compact.rows.size(), 2U);  // both kernels: overlaps are never hidden
  EXPECT_EQ(compact.lanes.front().rows_left_out, 1U);
  EXPECT_DOUBLE_EQ(compact.rows[1].top, heights.rank + heights.gap + heights.stream_row);
  EXPECT_EQ(compact.row_at(compact.rows[1].top), compact.rows.data() + 1);
  EXPECT_EQ(compact.row_at(heights.rank + 1), nullptr);  // the gap below the rank's bar

  choice.lanes.front() = LaneDetail::kFull;
  EXPECT_EQ(place(trace, lanes, choice, heights).rows.size(), 3U);
  choice.folded_ranks.front() = true;
  const Placement folded = place(trace, lanes, choice, heights);
  EXPECT_TRUE(folded.rows.empty());
  EXPECT_NE(folded.rank_at(1), nullptr);
}

/// A main thread five calls deep, another thread, and two streams that stand between them.
trace::Trace deep_host_and_two_streams() {
  SmallTrace small;
  for (const char* name : {"1", "2", "3", "4", "5"}) small.annotation(small.thread(1), name, 0, 100);
  small.call(small.thread(2), "other", 0, 10);
  small.kernel(small.stream(7), "a", 0, 100);
  small.kernel(small.stream(8), "b", 0, 50);
  return small.build();
}

std::vector<std::pair<LaneUse, std::size_t>> rows_by_use(const Lanes& lanes, const Placement& placed) {
  std::vector<std::pair<LaneUse, std::size_t>> rows;
  for (const PlacedLane& lane : placed.lanes) {
    const LaneRows& of = lanes.lanes[lane.lane];
    rows.emplace_back(of.use, of.rows() - lane.rows_left_out);
  }
  return rows;
}

TEST(Placement, RowsOfTheHostGiveWayInAPictureThatIsTooLow) {
  const trace::Trace trace = deep_host_and_two_streams();
  const Lanes lanes = lay_out(trace);
  const LaneChoice choice = LaneChoice::compact(lanes, 1);
  const RowHeights heights;
  const auto rows_within = [&](double height) {
    const Placement placed = place_within(trace, lanes, choice, heights, height);
    EXPECT_LE(placed.height, height);
    return rows_by_use(lanes, placed);
  };
  using Rows = std::vector<std::pair<LaneUse, std::size_t>>;
  constexpr auto kMain = LaneUse::kMainThread;
  constexpr auto kStream = LaneUse::kStream;
  const double bar = heights.rank + heights.gap;
  const double streams = 2 * heights.stream_row + heights.gap;
  const double main_rows = heights.thread_row;
  const double all = bar + 4 * main_rows + heights.gap + streams + heights.gap + heights.other_row;
  EXPECT_EQ(rows_within(all), (Rows{{kMain, 4}, {kStream, 1}, {kStream, 1}, {LaneUse::kOtherThread, 1}}));
  EXPECT_EQ(rows_within(all - 1), (Rows{{kMain, 4}, {kStream, 1}, {kStream, 1}}));
  EXPECT_EQ(rows_within(bar + main_rows + heights.gap + streams), (Rows{{kMain, 1}, {kStream, 1}, {kStream, 1}}));
  EXPECT_EQ(rows_within(bar + streams), (Rows{{kStream, 1}, {kStream, 1}}));
  EXPECT_EQ(rows_within(bar + streams - 1), (Rows{{kStream, 1}}));
  EXPECT_TRUE(place_within(trace, lanes, choice, heights, bar).ranks.empty()) << "no bar above nothing";
}

TEST(Placement, CompactThreadsGiveWayUntilTheFirstStreamsAreInSight) {
  const trace::Trace trace = deep_host_and_two_streams();
  const Lanes lanes = lay_out(trace);
  LaneChoice choice = LaneChoice::compact(lanes, 1);
  const RowHeights heights;
  const auto main_rows = [&](double height) {
    return rows_by_use(lanes, place_in_sight(trace, lanes, choice, height)).front().second;
  };
  const double without_main = heights.rank + 2 * heights.gap + 2 * heights.stream_row + heights.gap;
  EXPECT_EQ(main_rows(without_main + 4 * heights.thread_row), 4U) << "the other thread below may be out of sight";
  EXPECT_EQ(main_rows(without_main + 4 * heights.thread_row - 1), 2U);
  EXPECT_EQ(main_rows(without_main + 1 * heights.thread_row), 1U);
  const Placement low = place_in_sight(trace, lanes, choice, without_main);
  EXPECT_EQ(low.lanes.size(), 4U) << "each lane can still be reached";
  EXPECT_LT(low.rows.front().height, heights.thread_row);
  choice.lanes.front() = LaneDetail::kFull;
  EXPECT_EQ(main_rows(without_main), 5U) << "as chosen";
  choice.folded_ranks.front() = true;
  EXPECT_EQ(place_in_sight(trace, lanes, choice, 1).ranks.front().height, heights.rank) << "nothing to make room for";
}

TEST(Placement, PinnedLanesComeFirstAndDoNotScroll) {
  SmallTrace small;
  small.kernel(small.stream(7), "a", 0, 100);
  small.kernel(small.stream(8), "b", 0, 50);
  const trace::Trace trace = small.build();
  const Lanes lanes = lay_out(trace);
  LaneChoice choice = LaneChoice::compact(lanes, 1);
  choice.pinned[1] = true;
  const RowHeights heights;
  const Placement placed = place(trace, lanes, choice, heights);
  ASSERT_EQ(placed.lanes.size(), 2U) << "each once";
  EXPECT_EQ(placed.lanes[0].lane, 1U);
  EXPECT_EQ(placed.lanes[0].top, 0);
  EXPECT_EQ(placed.pinned_height, heights.stream_row + heights.gap);
  EXPECT_EQ(placed.ranks[0].top, placed.pinned_height);
  constexpr double kScrolled = 30;
  EXPECT_EQ(placed.shown_at(placed.lanes[0].top, kScrolled), 0);
  EXPECT_EQ(placed.shown_at(placed.lanes[1].top, kScrolled), placed.lanes[1].top - kScrolled);
  EXPECT_EQ(placed.placed_at(1, kScrolled), 1);
  EXPECT_EQ(placed.placed_at(placed.pinned_height + 1, kScrolled), placed.pinned_height + 1 + kScrolled);
  choice.folded_ranks.front() = true;
  EXPECT_EQ(place(trace, lanes, choice, heights).lanes.size(), 1U) << "what is pinned is seen all the same";
}

TEST(LaneChoice, IsCarriedOverByRankAndName) {
  SmallTrace small;
  small.kernel(small.stream(7), "a", 0, 100);
  small.kernel(small.stream(8), "b", 0, 50);
  const trace::Trace trace = small.build();
  SmallTrace next;
  next.kernel(next.stream(9), "new", 0, 200);
  next.kernel(next.stream(8), "b", 0, 50);
  const trace::Trace other = next.build();
  const Lanes lanes = lay_out(trace);
  const Lanes other_lanes = lay_out(other);
  LaneChoice choice = LaneChoice::compact(lanes, 1);
  for (std::size_t i = 0; i < lanes.lanes.size(); ++i) choice.pinned[i] = lanes.lanes[i].title == "stream 8";
  choice.folded_ranks.front() = true;
  const LaneChoice carried = choice.carried_over(trace, lanes, other, other_lanes);
  for (std::size_t i = 0; i < other_lanes.lanes.size(); ++i) {
    EXPECT_EQ(carried.pinned[i], other_lanes.lanes[i].title == "stream 8") << other_lanes.lanes[i].title;
  }
  EXPECT_TRUE(carried.folded_ranks.front());
}

}  // namespace
}  // namespace interlace::gui
