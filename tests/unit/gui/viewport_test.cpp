#include "gui/timeline/viewport.hpp"

#include <gtest/gtest.h>

#include "gui/timeline/ticks.hpp"

namespace interlace::gui {
namespace {

TEST(Viewport, ZoomKeepsTheTimeUnderThePointer) {
  const Viewport view{.begin_ns = 1000, .ns_per_px = 4, .width = 500};
  const Viewport closer = zoomed(view, 2, 100);
  EXPECT_DOUBLE_EQ(closer.ns_per_px, 2);
  EXPECT_DOUBLE_EQ(closer.ns_at(100), 1400);  // 1000 + 100 * 4
  EXPECT_DOUBLE_EQ(closer.begin_ns, 1200);    // 1400 - 100 * 2
  const Viewport back = zoomed(closer, 0.5, 100);
  EXPECT_DOUBLE_EQ(back.begin_ns, view.begin_ns);
}

TEST(Viewport, PanMovesContentByPixels) {
  const Viewport view{.begin_ns = 1000, .ns_per_px = 4, .width = 500};
  EXPECT_DOUBLE_EQ(panned(view, 10).x_of(Nanoseconds{1400}), view.x_of(Nanoseconds{1400}) + 10);
}

TEST(Viewport, FitShowsTheSpanBetweenEqualMargins) {
  const Viewport view = fitted({1000, 2000}, 120, 0.1);  // 1200 ns on 120 pixels
  EXPECT_DOUBLE_EQ(view.ns_per_px, 10);
  EXPECT_DOUBLE_EQ(view.x_of(Nanoseconds{1000}), 10);
  EXPECT_DOUBLE_EQ(view.x_of(Nanoseconds{2000}), 110);
}

TEST(Viewport, FitOfAnInstantShowsAMicrosecond) {
  const Viewport view = fitted({5000, 5000}, 100, 0);
  EXPECT_DOUBLE_EQ(view.end_ns() - view.begin_ns, 1000);
  EXPECT_DOUBLE_EQ(view.x_of(Nanoseconds{5000}), 50);
}

TEST(Viewport, ClampKeepsTheTraceInSight) {
  const Interval limits{0, 10'000};
  const Viewport far_right{.begin_ns = 50'000, .ns_per_px = 10, .width = 100};
  const Viewport back = clamped(far_right, limits);
  EXPECT_DOUBLE_EQ(back.ns_at(50), 10'000);
  const Viewport too_wide{.begin_ns = 0, .ns_per_px = 1e9, .width = 100};
  EXPECT_DOUBLE_EQ(clamped(too_wide, limits).ns_per_px, 300);  // three times 10,000 ns on 100 pixels
  const Viewport too_close{.begin_ns = 500, .ns_per_px = 1e-9, .width = 100};
  EXPECT_DOUBLE_EQ(clamped(too_close, limits).ns_per_px, 1 / kMostPixelsPerNs);
  const Viewport fine{.begin_ns = 100, .ns_per_px = 10, .width = 100};
  EXPECT_EQ(clamped(fine, limits), fine);
}

TEST(Ticks, LiesOnRoundTimesWithLabelsApart) {
  const Viewport view{.begin_ns = -2.5e6, .ns_per_px = 10'000, .width = 2000};  // -2.5 to 17.5 ms
  double last_label = -1e9;
  int labelled = 0;
  for (const Tick& tick : ticks(view, 100)) {
    EXPECT_EQ(tick.at % 200'000, 0) << tick.at;  // labels 1 ms apart, five minor ones each
    if (tick.label.empty()) continue;
    EXPECT_EQ(tick.at % kMillisecond, 0);
    EXPECT_GE(view.x_of(tick.at) - last_label, 100);
    last_label = view.x_of(tick.at);
    ++labelled;
  }
  EXPECT_EQ(labelled, 20);  // -2 ... 17
}

TEST(Ticks, TextHasTheDigitsThatTheDistanceNeeds) {
  EXPECT_EQ(time_text(0, 5), "0");
  EXPECT_EQ(time_text(12'500'000, 500'000), "12.5 ms");
  EXPECT_EQ(time_text(12'000'000, 1'000'000), "12 ms");
  EXPECT_EQ(time_text(250'000, 50'000), "250 µs");
  EXPECT_EQ(time_text(-250'000, 50'000), "-250 µs");
  EXPECT_EQ(time_text(1'250'000, 50'000), "1.25 ms");  // 1,250 µs would be four digits
  EXPECT_EQ(time_text(3, 1), "3 ns");
  EXPECT_EQ(time_text(2'000'000'000, 1'000'000'000), "2 s");
}

TEST(Ticks, MillisecondsHaveTheDecimalsThatTellSomething) {
  EXPECT_EQ(milliseconds_text(37'450'000), "37.45");
  EXPECT_EQ(milliseconds_text(100'000), "0.10");
  EXPECT_EQ(milliseconds_text(18'400), "0.018");
  EXPECT_EQ(milliseconds_text(-4'100), "-0.0041");
  EXPECT_EQ(milliseconds_text(0), "0.00");
}

TEST(Ticks, DurationHasThreeOrFourDigits) {
  EXPECT_EQ(duration_text(812), "812 ns");
  EXPECT_EQ(duration_text(1'204), "1.204 µs");
  EXPECT_EQ(duration_text(37'450'000), "37.45 ms");
  EXPECT_EQ(duration_text(812'400'000), "812.4 ms");
  EXPECT_EQ(duration_text(-2'500'000'000), "-2.500 s");
}

}  // namespace
}  // namespace interlace::gui
