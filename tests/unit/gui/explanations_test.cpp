#include "gui/timeline/explanations.hpp"

#include <gtest/gtest.h>

#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

using analysis::IdleCause;
using trace::OperationId;

graph::PathStep step(std::uint32_t op, Nanoseconds begin, Nanoseconds end) {
  return {.operation = {op}, .in = {begin, end}, .before = {begin, begin}, .slack = {}};
}

TEST(PathMarks, AreTheStretchesInSight) {
  const graph::CriticalPath path{{0, 1'000}, {step(0, 0, 100), step(1, 150, 400), step(2, 400, 900)}};
  const std::vector<PathMark> marks = path_marks(path, {.begin_ns = 200, .ns_per_px = 10, .width = 30});
  ASSERT_EQ(marks.size(), 2U);  // the first is over, the second begins to the left
  EXPECT_EQ(marks[0], (PathMark{{1}, -5, 20}));
  EXPECT_EQ(marks[1], (PathMark{{2}, 20, 70}));
}

TEST(PathMarks, KeepTheLongestOfWhatSharesAPixel) {
  const graph::CriticalPath path{{0, 1'000}, {step(0, 0, 10), step(1, 10, 60), step(2, 60, 80), step(3, 80, 500)}};
  const std::vector<PathMark> marks = path_marks(path, {.begin_ns = 0, .ns_per_px = 100, .width = 10});
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].operation, OperationId{1});
  EXPECT_EQ(marks[1].operation, OperationId{3});
}

class IdleTest : public testing::Test {
 protected:
  IdleTest() {
    content.scene = &scene;
    content.placement = &placement;
    content.view = {.begin_ns = 0, .ns_per_px = 1, .width = 200};
    content.idle = idle;
  }
  static trace::Trace two_kernels() {
    SmallTrace small;
    const auto thread = small.thread(1);
    const auto stream = small.stream(7);
    small.call(thread, "cudaLaunchKernel", 0, 5, 1);
    small.kernel(stream, "a", 10, 50, 1);
    small.call(thread, "cudaLaunchKernel", 70, 75, 2);
    small.kernel(stream, "b", 100, 150, 2);
    return small.build();
  }
  [[nodiscard]] double y_of(LaneUse use) const {
    for (const PlacedLane& lane : placement.lanes) {
      if (scene.lanes().lanes[lane.lane].use == use) return lane.top + lane.height / 2;
    }
    return -1;
  }

  trace::Trace trace = two_kernels();
  Scene scene{trace, Tags(trace.size())};
  Placement placement =
      place(trace, scene.lanes(), LaneChoice::compact(scene.lanes(), trace.ranks().size()), RowHeights());
  std::vector<std::vector<analysis::IdlePiece>> idle =
      analysis::idle_pieces(trace, analysis::Annotations(trace), std::vector<analysis::StepWindow>{{{0, 150}, 1}});
  PaneContent content;
};

TEST_F(IdleTest, TellsWhyAPointOfAStreamIsEmpty) {
  const double stream = y_of(LaneUse::kStream);
  ASSERT_NE(idle_at(content, 60, stream), nullptr);
  EXPECT_EQ(idle_at(content, 60, stream)->cause, IdleCause::kHostBusy);
  EXPECT_EQ(idle_at(content, 80, stream)->cause, IdleCause::kLaunchLatency);
  EXPECT_EQ(idle_at(content, 120, stream), nullptr) << "busy";
  content.idle = {};
  EXPECT_EQ(idle_at(content, 60, stream), nullptr) << "not shown";
}

TEST_F(IdleTest, BandsAreDrawnWhereTheDeviceDoesNothing) {
  QImage image(200, 200, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  draw_idle(painter, content, QRectF(0, 0, 200, 200), theme(ThemeKind::kLight));
  painter.end();
  const auto y = static_cast<int>(y_of(LaneUse::kStream));
  EXPECT_NE(image.pixelColor(60, y), QColor(Qt::white));
  EXPECT_NE(image.pixelColor(60, y), image.pixelColor(80, y)) << "another cause, another colour";
  EXPECT_EQ(image.pixelColor(120, y), QColor(Qt::white));
}

TEST(IdleText, NamesCauseAndStage) {
  EXPECT_EQ(idle_text({{0, 1}, IdleCause::kHostBlocked, "input_dist_wait", {}}), "host blocked in input_dist_wait");
  EXPECT_EQ(idle_text({{0, 1}, IdleCause::kUnknown, "", {}}), "unknown");
}

}  // namespace
}  // namespace interlace::gui
