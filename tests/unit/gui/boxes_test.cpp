#include "gui/timeline/boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

using trace::OperationId;

struct OneRow {
  trace::Trace trace;
  Lanes lanes = lay_out(trace);
  Pyramid pyramid{lanes.rows.front()};
  std::vector<ColourClass> colours = std::vector<ColourClass>(trace.size(), 1);

  [[nodiscard]] OperationId operation(const Box& box) const { return lanes.rows.front().operations[box.position]; }
  [[nodiscard]] std::vector<Box> boxes(const Viewport& view) const {
    std::vector<Box> found;
    append_boxes(lanes.rows.front(), pyramid, view, colours, found);
    return found;
  }
};

/// Kernels of 1 to `longest` ns with gaps of as much, one behind the other.
OneRow random_row(int count, int longest, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<Nanoseconds> length(1, longest);
  SmallTrace small;
  const auto stream = small.stream(7);
  Nanoseconds at = 0;
  for (int i = 0; i < count; ++i) {
    const Nanoseconds end = at + length(random);
    small.kernel(stream, "k", at, end);
    at = end + length(random);
  }
  return {small.build()};
}

TEST(Boxes, AreTheOperationsWhereThereIsRoom) {
  const OneRow row = random_row(300, 50, 1);
  const Viewport view{.begin_ns = 0, .ns_per_px = 0.5, .width = 1e6};
  const std::vector<Box> boxes = row.boxes(view);
  ASSERT_EQ(boxes.size(), row.trace.size());
  for (std::uint32_t i = 0; i < row.trace.size(); ++i) {
    EXPECT_EQ(row.operation(boxes[i]), OperationId{i});
    EXPECT_DOUBLE_EQ(boxes[i].left * view.ns_per_px, static_cast<double>(row.trace.start({i})));
    EXPECT_DOUBLE_EQ(boxes[i].right * view.ns_per_px, static_cast<double>(row.trace.end({i})));
    EXPECT_FALSE(boxes[i].folded);
  }
}

TEST(Boxes, LeaveOutWhatIsOutOfSight) {
  const OneRow row = random_row(1000, 50, 2);
  const Viewport view{.begin_ns = 2000, .ns_per_px = 1, .width = 500};
  for (const Box& box : row.boxes(view)) {
    EXPECT_GE(box.right, 0);
    EXPECT_LE(box.left, view.width);
  }
}

/// However far out, every operation in sight lies under some box, and there are not more boxes than pixels.
TEST(Boxes, HideNothingWhenFolded) {
  const OneRow row = random_row(20'000, 200, 3);
  for (const double ns_per_px : {3.0, 40.0, 700.0, 5000.0}) {
    const Viewport view{.begin_ns = 1000, .ns_per_px = ns_per_px, .width = 400};
    const std::vector<Box> boxes = row.boxes(view);
    EXPECT_LE(boxes.size(), 2 * 400U) << ns_per_px;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < row.trace.size(); ++i) {
      const double middle = (view.x_of(row.trace.start({i})) + view.x_of(row.trace.end({i}))) / 2;
      if (middle < 1 || middle > view.width - 1) continue;
      while (at < boxes.size() && boxes[at].right + 1 < middle) ++at;
      ASSERT_LT(at, boxes.size());
      EXPECT_LE(boxes[at].left - 1, middle) << i << " at " << ns_per_px;
    }
  }
}

TEST(Boxes, FoldedOnesTellTheLongestAndHowMuchIsCovered) {
  SmallTrace small;
  const auto stream = small.stream(7);
  small.kernel(stream, "short", 0, 10);
  small.kernel(stream, "long", 10, 40);  // 40 of the first pixel's 100 ns
  small.kernel(stream, "far", 1000, 1100);
  const OneRow row{small.build()};
  const std::vector<Box> boxes = row.boxes({.begin_ns = 0, .ns_per_px = 100, .width = 50});
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_TRUE(boxes[0].folded);
  EXPECT_EQ(row.operation(boxes[0]), named(row.trace, "long"));
  EXPECT_FLOAT_EQ(boxes[0].coverage, 0.5F);  // in quarters, rounded up
  EXPECT_DOUBLE_EQ(boxes[0].left, 0);
  EXPECT_DOUBLE_EQ(boxes[0].right, 1);
  EXPECT_FALSE(boxes[1].folded);
}

TEST(Boxes, NeighboursOfOneColourBecomeOneRun) {
  SmallTrace small;
  const auto stream = small.stream(7);
  for (Nanoseconds at = 0; at < 1000; at += 10) small.kernel(stream, "k", at, at + 10);
  OneRow row{small.build()};
  const Viewport view{.begin_ns = 0, .ns_per_px = 100, .width = 50};
  ASSERT_EQ(row.boxes(view).size(), 1U);
  EXPECT_DOUBLE_EQ(row.boxes(view).front().right, 10);
  for (std::size_t i = 50; i < row.colours.size(); ++i) row.colours[i] = 2;
  EXPECT_EQ(row.boxes(view).size(), 2U);
}

TEST(Pyramid, NodesCoverTheirChildren) {
  const OneRow row = random_row(1000, 30, 4);
  const std::vector<OperationId>& operations = row.lanes.rows.front().operations;
  ASSERT_GE(row.pyramid.levels(), 3U);
  EXPECT_EQ(row.pyramid.level(0).size(), 125U);  // 1000 / 8
  EXPECT_EQ(row.pyramid.level(row.pyramid.levels() - 1).size(), 1U);
  const Pyramid::Node& top = row.pyramid.level(row.pyramid.levels() - 1).front();
  EXPECT_EQ(top.begin, row.trace.start(operations.front()));
  EXPECT_EQ(top.end, row.trace.end(operations.back()));
  Nanoseconds longest = 0;
  double busy = 0;
  for (const OperationId op : operations) {
    longest = std::max(longest, row.trace.duration(op));
    busy += static_cast<double>(row.trace.duration(op));
  }
  EXPECT_EQ(row.trace.duration(operations[top.longest]), longest);
  EXPECT_NEAR(top.busy_ns, busy, busy * 1e-5);
}

}  // namespace
}  // namespace interlace::gui
