// Where the two timelines look, and what of them is laid beside each other.
#include <gtest/gtest.h>

#include <QContextMenuEvent>
#include <QMenu>
#include <QPointer>
#include <QTest>
#include <algorithm>

#include "gui/compare/alignment.hpp"
#include "gui/panels/difference_strip.hpp"
#include "tests/gui/window_fixture.hpp"

namespace interlace::gui {
namespace {

TEST_F(WindowTest, PanesAreAlignedAndMoveTogetherUntilUnlinked) {
  open(kBase, {"torchrec/sparse_dist"});
  const auto views = [this] { return window_.timelines().views(); };
  EXPECT_EQ(pane(Side::kMeasured).plot_width(), pane(Side::kPredicted).plot_width());
  const Viewport before = views().view(Side::kMeasured);
  key("W");
  EXPECT_LT(views().view(Side::kMeasured).ns_per_px, before.ns_per_px);
  EXPECT_EQ(views().view(Side::kMeasured), views().view(Side::kPredicted));
  const Viewport near = views().view(Side::kMeasured);
  key("D");
  EXPECT_GT(views().view(Side::kMeasured).visible().begin, near.visible().begin);
  EXPECT_EQ(views().view(Side::kMeasured), views().view(Side::kPredicted));
  key("A");
  EXPECT_EQ(views().view(Side::kMeasured).visible(), near.visible());
  key("S");
  EXPECT_GT(views().view(Side::kMeasured).ns_per_px, near.ns_per_px);
  EXPECT_EQ(views().view(Side::kMeasured), views().view(Side::kPredicted));
  key("Z");
  key("L");
  EXPECT_FALSE(views().linked());
  const Viewport measured = views().view(Side::kMeasured);
  QTest::mousePress(&pane(Side::kPredicted), Qt::LeftButton, {}, QPoint(600, 100));
  QTest::mouseRelease(&pane(Side::kPredicted), Qt::LeftButton, {}, QPoint(600, 100));
  key("W");
  EXPECT_EQ(views().view(Side::kMeasured), measured);
  EXPECT_NE(views().view(Side::kPredicted), measured);
}

TEST_F(WindowTest, AlignedByBatchBothShowItsFirstWorkAtZero) {
  open(kBase, {"torchrec/sparse_dist"});
  key("B");
  EXPECT_EQ(window_.timelines().aligned_by(), AlignBy::kBatch);
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    // By another way than the panel's: over all device work of the first rank.
    const gui::Run& run = *pane(side).run();
    const auto batch = trained_batch(run, step_at(run.first_steps(), window_.timelines().aligned_step()).value());
    std::optional<Nanoseconds> first;
    for (std::uint32_t i = 0; i < run.trace().size(); ++i) {
      const trace::OperationId op{i};
      const bool counts = trace::is_device_work(run.trace().kind(op)) && run.trace().rank_of(op).index() == 0;
      if (!counts || run.scene().tags().batch_of(op) != batch) continue;
      first = std::min(first.value_or(INT64_MAX), run.trace().start(op));
    }
    EXPECT_EQ(pane(side).content().anchor, first);
  }
  EXPECT_FALSE(window_.timelines().comparison().leads().empty());
  screenshot("by_batch");
  // The recording copies a batch one step ahead, the pipeline two.
  const auto& steps = pane(Side::kPredicted).run()->first_steps();
  EXPECT_GT(steps.back().begin - pane(Side::kPredicted).content().anchor, steps.back().length() * 3 / 2);
  const Nanoseconds before = pane(Side::kPredicted).content().anchor;
  key("[");
  EXPECT_LT(pane(Side::kPredicted).content().anchor, before) << "the batch before";
  key("]");
  EXPECT_EQ(pane(Side::kPredicted).content().anchor, before);
  key("B");
  EXPECT_EQ(window_.timelines().aligned_by(), AlignBy::kStep);
  EXPECT_EQ(pane(Side::kMeasured).content().anchor,
            step_at(pane(Side::kMeasured).run()->first_steps(), window_.timelines().aligned_step()).value().begin);
}

TEST_F(WindowTest, AlignedByWorkBothShowItAtZeroAlsoInTheNextPrediction) {
  open(kBase, {"torchrec/sparse_dist", "torchrec/staged"});
  TimelinePane& measured = pane(Side::kMeasured);
  const trace::OperationId kernel = widest_kernel(measured);
  QTest::mouseClick(&measured, Qt::LeftButton, {}, point_of(measured, kernel));
  key("Shift+L");
  EXPECT_EQ(window_.timelines().aligned_by(), AlignBy::kRange);
  EXPECT_EQ(measured.content().anchor, measured.run()->trace().start(kernel));
  for (const int tab : {1, 0}) {
    window_.timelines().show_forecast(tab);
    const auto same = window_.timelines().counterpart_of(Side::kMeasured, kernel);
    ASSERT_TRUE(same);
    EXPECT_EQ(pane(Side::kPredicted).content().anchor, pane(Side::kPredicted).run()->trace().start(*same));
  }
  // The work itself begins without lead; what the lane shows stands below the work of the measured pane.
  const auto& leads = window_.timelines().comparison().leads();
  const auto own = std::ranges::find(leads, kernel, &Lead::measured);
  ASSERT_NE(own, leads.end());
  EXPECT_EQ(own->at, measured.run()->trace().duration(kernel));
}

TEST_F(WindowTest, TheLaneOfDifferencesTellsAndSelectsTheWorkUnderTheMouse) {
  open(kBase, {"torchrec/sparse_dist"});
  auto* strip = window_.timelines().findChild<DifferenceStrip*>();
  ASSERT_NE(strip, nullptr);
  const auto& leads = window_.timelines().comparison().leads();
  const Lead& middle = leads[leads.size() / 2];
  const Viewport view = window_.timelines().views().view(Side::kPredicted);
  const QPoint at(static_cast<int>(kLabelWidth + view.x_of(middle.at)) + 1, 10);
  QStringList told;  // all of it: a real pointer may leave again at once
  QObject::connect(&window_.timelines(), &ComparePanel::hovered, &window_,
                   [&told](const QString& text) { told << text; });
  QTest::mouseMove(strip, at);
  EXPECT_FALSE(told.filter(" ahead after ").isEmpty()) << told.join(u'\n').toStdString();
  QTest::mouseClick(strip, Qt::LeftButton, {}, at);
  const auto selected = pane(Side::kMeasured).selected();
  ASSERT_TRUE(selected);
  EXPECT_NE(std::ranges::find(leads, *selected, &Lead::measured), leads.end());
  EXPECT_EQ(pane(Side::kPredicted).content().counterpart,
            window_.timelines().counterpart_of(Side::kMeasured, *selected));
  key("Esc");
  bool won = false;
  for (int row = 0; row < window_.details().rowCount(); ++row) {
    won = won || window_.details().index(row, 0).data().toString() == "won";
  }
  EXPECT_TRUE(won) << "the details sum it up by stage";
}

TEST_F(WindowTest, BesideEachOtherThePanesHaveOneScale) {
  open(kBase, {"torchrec/sparse_dist"});
  key("V");
  QTest::qWait(10);
  EXPECT_TRUE(window_.timelines().beside());
  const auto left = pane(Side::kMeasured).mapTo(&window_, QPoint(0, 0));
  const auto right = pane(Side::kPredicted).mapTo(&window_, QPoint(0, 0));
  EXPECT_GE(right.x(), left.x() + pane(Side::kMeasured).width());
  key("0");
  const Views& views = window_.timelines().views();
  EXPECT_EQ(views.view(Side::kMeasured).ns_per_px, views.view(Side::kPredicted).ns_per_px);
  EXPECT_EQ(views.view(Side::kMeasured).begin_ns, views.view(Side::kPredicted).begin_ns);
  EXPECT_EQ(views.view(Side::kPredicted).width, pane(Side::kPredicted).plot_width());
  screenshot("beside");
  key("V");
  QTest::qWait(10);
  EXPECT_FALSE(window_.timelines().beside());
}

TEST_F(WindowTest, APinnedLaneStaysWhileOthersScrollAndInTheNextPrediction) {
  open(kBase, {"torchrec/sparse_dist"});
  TimelinePane& predicted = pane(Side::kPredicted);
  window_.resize(1920, 800);
  QTest::qWait(10);
  QTest::mousePress(&predicted, Qt::LeftButton, {}, QPoint(600, 8));
  QTest::mouseRelease(&predicted, Qt::LeftButton, {}, QPoint(600, 8));
  window_.search("^Memcpy HtoD");
  const auto selected_lane = [&]() -> const trace::Lane& {
    return predicted.run()->trace().lane(predicted.run()->trace().lane_of(*predicted.selected()));
  };
  ASSERT_TRUE(window_.timelines().show_hit(true));
  // Of the first rank: its lanes are on top, so that there is something to scroll to. Wide enough for a box of its own:
  // narrower ones fold into one box, and which do is the prediction's business.
  const auto fits = [&] {
    const trace::Trace& trace = predicted.run()->trace();
    const Nanoseconds lasts = trace.end(*predicted.selected()) - trace.start(*predicted.selected());
    return selected_lane().rank.value == 0 &&
           static_cast<double>(lasts) > 4 * window_.timelines().views().view(Side::kPredicted).ns_per_px;
  };
  for (int hits = 0; hits < 64 && !fits(); ++hits) ASSERT_TRUE(window_.timelines().show_hit(true));
  ASSERT_TRUE(fits());
  const std::string pinned = selected_lane().name;
  key("X");
  const auto is_pinned = [&] {
    const Placement& placed = *predicted.content().placement;
    const auto& lanes = predicted.run()->scene().lanes().lanes;
    return placed.pinned_height > 0 &&
           predicted.run()->trace().lane(lanes[placed.lanes.front().lane].lane).name == pinned;
  };
  ASSERT_TRUE(is_pinned());
  const QRect top(0, static_cast<int>(kAbovePlot), 1000,
                  static_cast<int>(predicted.content().placement->pinned_height) - 3);
  const QImage before = predicted.grab(top).toImage();
  const QImage all_before = predicted.grab().toImage();
  key("Down");
  key("Down");
  EXPECT_GT(predicted.content().scroll, 0);
  EXPECT_EQ(predicted.grab(top).toImage(), before);
  EXPECT_NE(predicted.grab().toImage(), all_before) << "the others scroll";
  screenshot("pinned");
  // A click finds the pinned work, not what has been scrolled away under it.
  const trace::OperationId op = *predicted.selected();
  key("Esc");
  QTest::mouseClick(&predicted, Qt::LeftButton, {}, point_of(predicted, op));
  EXPECT_EQ(predicted.selected(), std::optional(op));
  window_.predict("torchrec/staged");
  settle();
  EXPECT_TRUE(is_pinned()) << "every prediction has this stream";
  window_.timelines().show_forecast(0);
  const QPoint name(30, static_cast<int>(kAbovePlot) + 8);
  QContextMenuEvent menu(QContextMenuEvent::Mouse, name, predicted.mapToGlobal(name));
  QCoreApplication::sendEvent(&predicted, &menu);
  auto* shown = predicted.findChild<QMenu*>();
  ASSERT_NE(shown, nullptr);
  shown->actions().front()->trigger();
  EXPECT_EQ(predicted.content().placement->pinned_height, 0);
  shown->close();
}

TEST_F(WindowTest, TheMenuOfALaneGoesWithTheRunThatItIsOf) {
  open(kBase);
  TimelinePane& measured = pane(Side::kMeasured);
  const QPoint name(30, static_cast<int>(kAbovePlot) + 30);
  QContextMenuEvent asked(QContextMenuEvent::Mouse, name, measured.mapToGlobal(name));
  QCoreApplication::sendEvent(&measured, &asked);
  const QPointer<QMenu> menu = measured.findChild<QMenu*>();
  ASSERT_TRUE(menu && menu->isVisible());
  const std::size_t lanes = measured.run()->scene().lanes().lanes.size();
  open({kTraces / "hta/simple_add"});
  ASSERT_LT(measured.run()->scene().lanes().lanes.size(), lanes) << "else the lane would be there, too";
  EXPECT_FALSE(menu && menu->isVisible());
  measured.toggle_pin(static_cast<std::uint32_t>(lanes) - 1);
  EXPECT_EQ(measured.content().placement->pinned_height, 0);
}

TEST_F(WindowTest, ZoomsAreTakenBackOneByOne) {
  open(kBase, {"torchrec/sparse_dist"});
  const auto view = [this] { return window_.timelines().views().view(Side::kMeasured); };
  const Viewport first = view();
  key("W");
  const Viewport second = view();
  QTest::qWait(700);  // moves that follow closely count as one
  key("W");
  const Viewport third = view();
  EXPECT_NE(second, third);
  key("]");  // what is aligned is no move
  const Nanoseconds anchor = pane(Side::kMeasured).content().anchor;
  key("Z");
  EXPECT_EQ(view(), second);
  EXPECT_EQ(pane(Side::kMeasured).content().anchor, anchor);
  key("Z");
  EXPECT_EQ(view(), first);
  key("Shift+Z");
  EXPECT_EQ(view(), second);
}

TEST_F(WindowTest, WheelZoomsAtThePointerAndDragPans) {
  open(kBase);
  TimelinePane& measured = pane(Side::kMeasured);
  const QRectF plot = areas_of(QRectF(measured.rect())).plot;
  const double x = 700;
  const Nanoseconds under = measured.content().view.time_at(x);
  const QPointF at(plot.left() + x, plot.top() + 100);
  QWheelEvent turn(at, measured.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&measured, &turn);
  EXPECT_NEAR(static_cast<double>(measured.content().view.time_at(x)), static_cast<double>(under), 2);
  const Viewport before = measured.content().view;
  const QPoint from = at.toPoint();
  QTest::mousePress(&measured, Qt::LeftButton, {}, from);
  QTest::mouseMove(&measured, from + QPoint(30, 0));
  QTest::mouseMove(&measured, from + QPoint(60, 0));
  QTest::mouseRelease(&measured, Qt::LeftButton, {}, from + QPoint(60, 0));
  EXPECT_NEAR(measured.content().view.begin_ns, before.begin_ns - 60 * before.ns_per_px, 1);
}

}  // namespace
}  // namespace interlace::gui
