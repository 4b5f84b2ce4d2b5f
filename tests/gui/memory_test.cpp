// The memory of a recording with snapshots, beside that of a prediction.
#include <QAbstractItemModelTester>
#include <QTabWidget>
#include <tuple>

#include "gui/panels/memory_strip.hpp"
#include "tests/gui/window_fixture.hpp"

namespace interlace::gui {
namespace {

class MemoryTest : public WindowTest {
 protected:
  void open_with_memory() {
    const auto folder = kTraces / "torchrec_c6";
    open({folder / "base.mem.r0.json.gz", folder / "base.mem.r1.json.gz", folder / "base.mem.r0.snap.pickle",
          folder / "base.mem.r1.snap.pickle"},
         {"torchrec/sparse_dist"});
    ASSERT_EQ(window_.failure_dialog(), nullptr);
  }
  [[nodiscard]] MemoryStrip& strip(Side side) const { return window_.timelines().memory(side); }
};

TEST_F(MemoryTest, CurvesStandBelowBothTimelinesOnOneScale) {
  open_with_memory();
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    ASSERT_TRUE(strip(side).isVisible());
    EXPECT_EQ(strip(side).plot().view, pane(side).content().view);
    EXPECT_EQ(strip(side).plot().anchor, pane(side).content().anchor);
    EXPECT_EQ(strip(side).plot().curve->allocated.size(), strip(side).plot().curve->at.size());
  }
  EXPECT_EQ(strip(Side::kMeasured).plot().top, strip(Side::kPredicted).plot().top);
  // What the table tells of the prediction is what the curve shows, but for what lies outside the steps shown.
  const ForecastPtr forecast = window_.timelines().forecasts().front();
  const auto& curve = forecast->run->memory().front();
  EXPECT_LE(*std::ranges::max_element(curve.allocated), forecast->row.memory.front().allocated_peak);
  EXPECT_GT(*std::ranges::max_element(curve.allocated), forecast->row.memory.front().allocated_peak * 9 / 10);
  EXPECT_NE(strip(Side::kMeasured).grab().toImage(), strip(Side::kPredicted).grab().toImage());
  key("Y");
  EXPECT_FALSE(strip(Side::kMeasured).isVisible());
}

TEST_F(MemoryTest, InASmallWindowTheCurvesLeaveRoomForTheRows) {
  open_with_memory();
  const int roomy = strip(Side::kMeasured).height();
  window_.resize(1280, 800);
  QCoreApplication::processEvents();
  screenshot("small_memory");
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    EXPECT_LT(strip(side).height(), roomy);
    EXPECT_EQ(strip(side).height(), strip(Side::kMeasured).height()) << "one scale";
    EXPECT_GE(pane(side).plot_height(), 2.8 * strip(side).height());
  }
}

TEST_F(MemoryTest, AWindowThatWasTallGetsAsLowAsBefore) {
  open_with_memory();
  const auto heights_at = [this](int height) {
    window_.resize(1280, height);
    QTest::qWait(20);
    return std::tuple(window_.height(), pane(Side::kMeasured).height(), pane(Side::kPredicted).height(),
                      strip(Side::kMeasured).height());
  };
  const auto low = heights_at(620);
  EXPECT_GT(heights_at(1400), low);
  EXPECT_EQ(heights_at(620), low);
}

TEST_F(MemoryTest, BlocksAliveAtTheMouseAreListed) {
  open_with_memory();
  window_.show_blocks_table();
  TimelinePane& predicted = pane(Side::kPredicted);
  const QRectF plot = areas_of(QRectF(predicted.rect())).plot;
  const QPoint at(static_cast<int>(plot.left()) + 600, static_cast<int>(plot.top()) + 60);
  QTest::mouseMove(&predicted, at);
  const BlocksModel& blocks = window_.blocks();
  ASSERT_GT(blocks.rowCount(), 10);
  const auto& curve = predicted.run()->memory().front();
  const Nanoseconds time = predicted.content().trace_view().time_at(600);
  EXPECT_EQ(window_.timelines().cursor_time(), std::optional(time));
  // All lines together are what is allocated then.
  Bytes sum = 0;
  for (int row = 0; row < blocks.rowCount(); ++row) {
    sum += blocks.index(row, BlocksModel::kBytes).data(Qt::UserRole).toLongLong();
  }
  EXPECT_EQ(sum, curve.allocated[curve.moment_at(time).value()]);
  EXPECT_FALSE(blocks.index(1, BlocksModel::kStage).data().toString().isEmpty());
  screenshot("memory");
  const auto* tabs = window_.findChild<QTabWidget*>();
  EXPECT_TRUE(tabs->tabText(2).startsWith("Memory of torchrec/sparse_dist, rank 0 at "))
      << tabs->tabText(2).toStdString();
  window_.predict("torchrec/staged");
  settle();
  EXPECT_EQ(blocks.rowCount(), 0) << "what they were of is not shown any more";
  EXPECT_EQ(tabs->tabText(2), "Memory");
}

TEST_F(MemoryTest, BesideATraceThereAreNoBlocksAndNoNumbers) {
  open_with_memory();
  window_.show_blocks_table();
  key("Home");  // all of both, with a little beside them
  const auto move_to = [this](Side side, double x) {
    const QRectF plot = areas_of(QRectF(pane(side).rect())).plot;
    QTest::mouseMove(&pane(side), QPoint(static_cast<int>(plot.left() + x), static_cast<int>(plot.top()) + 60));
    return strip(side).plot().moment_at_cursor();
  };
  const double width = pane(Side::kMeasured).plot_width();
  constexpr double kFromEdge = 20;  // there is a scroll bar
  for (const double x : {kFromEdge, width - kFromEdge}) {
    int beside = 0;
    for (const Side side : {Side::kMeasured, Side::kPredicted}) {
      const Nanoseconds time = pane(side).content().trace_view().time_at(x);
      if (time >= 0 && time <= pane(side).run()->trace().length()) continue;
      ++beside;
      EXPECT_TRUE(move_to(side, width / 2));
      EXPECT_GT(window_.blocks().rowCount(), 10);
      EXPECT_FALSE(move_to(side, x)) << x;
      EXPECT_EQ(window_.blocks().rowCount(), 0) << x;
      EXPECT_EQ(window_.findChild<QTabWidget*>()->tabText(2), "Memory");
    }
    EXPECT_GT(beside, 0) << x;
  }
}

TEST_F(MemoryTest, TheTableOfBlocksIsAModelLikeOthers) {
  open_with_memory();
  BlocksModel blocks;
  const QAbstractItemModelTester tester(&blocks, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const RunPtr& run = pane(Side::kMeasured).run();
  blocks.set(run, 0, run->trace().length() / 2, 0);
  EXPECT_GT(blocks.rowCount(), 10);
  blocks.set(run, 1, run->trace().length() / 3, 0);
  blocks.clear();
  EXPECT_EQ(blocks.rowCount(), 0);
}

TEST_F(MemoryTest, AClickOnTheNameShowsTheNextRankOnBothSides) {
  open_with_memory();
  QTest::mouseClick(&strip(Side::kMeasured), Qt::LeftButton, {}, QPoint(20, 20));
  EXPECT_EQ(strip(Side::kMeasured).curve(), 1U);
  EXPECT_EQ(strip(Side::kPredicted).curve(), 1U);
  QTest::mouseClick(&strip(Side::kPredicted), Qt::LeftButton, {}, QPoint(20, 20));
  EXPECT_EQ(strip(Side::kMeasured).curve(), 0U);
}

TEST_F(MemoryTest, WithoutMemoryThereIsNoStrip) {
  open(kBase, {"torchrec/sparse_dist"});
  EXPECT_FALSE(strip(Side::kMeasured).isVisible());
  EXPECT_FALSE(strip(Side::kPredicted).isVisible());
}

}  // namespace
}  // namespace interlace::gui
