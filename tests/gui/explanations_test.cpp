// The critical path and idle causes over both timelines.
#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/overlap.hpp"
#include "simulator/graph/graph.hpp"
#include "tests/gui/window_fixture.hpp"

namespace interlace::gui {
namespace {

using ExplanationsTest = WindowTest;

TEST_F(ExplanationsTest, TheCriticalPathFillsEachStepInBothTimelines) {
  open(kBase, {"torchrec/sparse_dist"});
  const QImage before = pane(Side::kPredicted).grab().toImage();
  window_.timelines().set_critical_shown(true);
  // Worked out on the session's thread; what comes of it comes by events, of which none has been taken yet.
  EXPECT_TRUE(window_.session().busy());
  settle();
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    const auto paths = pane(side).content().critical;
    ASSERT_EQ(paths.size(), pane(side).run()->first_steps().size());
    Nanoseconds spent = 0;
    const graph::PathBreakdown parts = graph::breakdown(*pane(side).run()->dependencies(), paths.front());
    for (const Nanoseconds part : parts.spent) spent += part;
    EXPECT_EQ(spent, paths.front().window.length());
  }
  EXPECT_NE(pane(Side::kPredicted).grab().toImage(), before);
  EXPECT_EQ(window_.details().index(0, 0).data().toString(), "measured critical path");
  screenshot("critical_path");
  key("P");
  EXPECT_EQ(pane(Side::kPredicted).grab().toImage(), before);
}

TEST_F(ExplanationsTest, APredictionThatComesWhileTheyAreShownIsExplainedToo) {
  open(kBase);
  key("P");
  settle();
  window_.predict("torchrec/staged");
  settle();
  EXPECT_FALSE(pane(Side::kPredicted).content().critical.empty());
  EXPECT_EQ(window_.details().index(1, 0).data().toString(), "predicted critical path");
}

TEST_F(ExplanationsTest, IdleBandsSayWhyAndAddUpToTheStepsIdleTime) {
  open(kBase, {"torchrec/sparse_dist"});
  key("I");
  settle();
  const auto idle = pane(Side::kMeasured).content().idle;
  ASSERT_EQ(idle.size(), 2U);
  // The mean over ranks and steps is the idle time of the steps as they are drawn.
  const auto& steps = pane(Side::kMeasured).run()->steps();
  double sum = 0;
  for (std::size_t rank = 0; rank < idle.size(); ++rank) {
    for (const analysis::IdlePiece& piece : idle[rank]) {
      sum += static_cast<double>(piece.span.length()) / static_cast<double>(steps[rank].size());
    }
  }
  const trace::Trace& trace = pane(Side::kMeasured).run()->trace();
  const auto of_steps = analysis::overlap(trace, analysis::Annotations(trace), analysis::steady_windows_of(steps));
  EXPECT_NEAR(sum / 2, static_cast<double>(of_steps.mean.idle_ns), 2);
  screenshot("idle");
  key("I");
  EXPECT_TRUE(pane(Side::kMeasured).content().idle.empty());
}

}  // namespace
}  // namespace interlace::gui
