#include "gui/compare/views.hpp"

#include <gtest/gtest.h>

#include "gui/compare/alignment.hpp"

namespace interlace::gui {
namespace {

Views of_width(double pixels) {
  Views views;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) views.set_width(side, pixels);
  return views;
}

TEST(Views, LinkedOnesShowTheSameAxisOfDifferentTraces) {
  Views views = of_width(100);
  views.set_anchor(Side::kMeasured, 1000);
  views.set_anchor(Side::kPredicted, 5000);
  const Viewport view{.begin_ns = -10, .ns_per_px = 2, .width = 100};
  views.look(Side::kPredicted, view);
  EXPECT_EQ(views.view(Side::kMeasured), view);
  // What begins with the anchors stands at the same pixel in both.
  EXPECT_DOUBLE_EQ(view.x_of(views.on_axis(Side::kMeasured, {1000, 1200}).begin),
                   view.x_of(views.on_axis(Side::kPredicted, {5000, 5200}).begin));
}

TEST(Views, UnlinkedOnesMoveAlone) {
  Views views = of_width(100);
  const Viewport first{.begin_ns = 0, .ns_per_px = 2, .width = 100};
  const Viewport second{.begin_ns = 50, .ns_per_px = 1, .width = 100};
  views.look(Side::kMeasured, first);
  views.link(false, Side::kMeasured);
  views.look(Side::kPredicted, second);
  EXPECT_EQ(views.view(Side::kMeasured), first);
  views.link(true, Side::kPredicted);  // the leader stays, the other comes
  EXPECT_EQ(views.view(Side::kMeasured), second);
}

TEST(Views, LinkedOnesOfDifferentWidthHaveOneScale) {
  Views views = of_width(100);
  views.set_width(Side::kPredicted, 40);
  views.look(Side::kMeasured, {.begin_ns = 7, .ns_per_px = 3, .width = 100});
  EXPECT_EQ(views.view(Side::kPredicted), (Viewport{.begin_ns = 7, .ns_per_px = 3, .width = 40}));
}

Views at(double begin) {
  Views views = of_width(100);
  views.look(Side::kMeasured, {.begin_ns = begin, .ns_per_px = 1, .width = 100});
  return views;
}

TEST(ViewHistory, GoesBackMoveByMove) {
  ViewHistory history;
  history.moved(at(0), 1000);  // to 1, a second later to 2
  history.moved(at(1), 3000);
  ASSERT_TRUE(history.can_go_back());
  EXPECT_EQ(history.back(at(2)), at(1));
  EXPECT_EQ(history.back(at(1)), at(0));
  EXPECT_FALSE(history.can_go_back());
  EXPECT_EQ(history.forward(at(0)), at(1));
  EXPECT_EQ(history.forward(at(1)), at(2));
  EXPECT_FALSE(history.can_go_forward());
}

TEST(ViewHistory, TakesTurnsOfAWheelForOneMove) {
  ViewHistory history;
  for (int turn = 0; turn < 5; ++turn) history.moved(at(turn), 1000 + turn * 100);
  EXPECT_EQ(history.back(at(5)), at(0));
  EXPECT_FALSE(history.can_go_back());
}

TEST(ViewHistory, ANewMoveForgetsTheWayForward) {
  ViewHistory history;
  history.moved(at(0), 1000);
  (void)history.back(at(1));
  history.moved(at(0), 1100);  // soon after, and still a move of its own
  EXPECT_FALSE(history.can_go_forward());
  EXPECT_EQ(history.back(at(7)), at(0));
}

TEST(Alignment, PutsTheMiddleStepAtZero) {
  const std::vector<Interval> steps = {{0, 10}, {10, 21}, {21, 30}, {30, 41}};
  EXPECT_EQ(anchor_at_step(steps), 10);
  EXPECT_EQ(anchor_at_step(steps, 1), 21);
  EXPECT_EQ(anchor_at_step(steps, 99), 30);
  EXPECT_EQ(anchor_at_step(steps, -99), 0);
  EXPECT_EQ(anchor_at_step({}, 3), 0);
}

TEST(Alignment, ShowsTheLongerPartWithSomethingAround) {
  EXPECT_EQ(first_view(std::vector<Interval>{{0, 1000}, {500, 2500}}, 9999), (Interval{-100, 2100}));
  EXPECT_EQ(first_view({}, 9999), (Interval{0, 9999}));
}

}  // namespace
}  // namespace interlace::gui
