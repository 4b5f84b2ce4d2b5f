#include "gui/timeline/memory_plot.hpp"

#include <gtest/gtest.h>

#include <QImage>

#include "gui/timeline/pane.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

analysis::MemoryCurve steps() {
  analysis::MemoryCurve curve;
  curve.at = {100, 110, 119, 200, 400};
  curve.allocated = {10, 50, 20, 5, 8};
  return curve;
}

using Moments = std::vector<std::optional<std::size_t>>;

TEST(FullestMoments, GiveEachPixelTheHighestOfWhatHoldsInIt) {
  // Pixels of 50 ns from 50 on: [50, 100) nothing yet; [100, 150) 10, 50, 20; [150, 200) 20 still; [200, 250) 20 ends
  // where it begins, so 5 would be all of it but for the edge.
  const Moments moments = fullest_moments(steps(), {.begin_ns = 50, .ns_per_px = 50, .width = 5}, 1'000);
  EXPECT_EQ(moments, (Moments{std::nullopt, 1, 2, 2, 3}));
}

TEST(FullestMoments, ASpikeNarrowerThanAPixelIsSeen) {
  const Moments moments = fullest_moments(steps(), {.begin_ns = 0, .ns_per_px = 1'000, .width = 1}, 1'000);
  EXPECT_EQ(moments, (Moments{1}));
}

TEST(FullestMoments, BeginWithWhatHoldsAlreadyAndEndWithTheTrace) {
  const Moments moments = fullest_moments(steps(), {.begin_ns = 300, .ns_per_px = 50, .width = 6}, 460);
  EXPECT_EQ(moments, (Moments{3, 3, 4, 4, std::nullopt, std::nullopt}));
}

TEST(FullestMoments, AreNoneOfAnEmptyCurve) {
  EXPECT_EQ(fullest_moments({}, {.begin_ns = 0, .ns_per_px = 1, .width = 2}, 10), (Moments(2)));
}

TEST(FullestMoments, GoByWhatIsReservedWhereNothingElseIsRecorded) {
  analysis::MemoryCurve curve;
  curve.at = {10, 20, 30};
  curve.reserved = {5, 9, 7};
  EXPECT_EQ(fullest_moments(curve, {.begin_ns = 0, .ns_per_px = 100, .width = 1}, 100), (Moments{1}));
  EXPECT_EQ(of_no_pool(curve, 0), 0);
}

TEST(DrawMemory, ShowsWhatIsAllocatedWithoutPoolsToo) {
  SmallTrace small;
  small.kernel(small.stream(7), "kernel", 0, 1'000);
  const trace::Trace trace = small.build();
  analysis::MemoryCurve curve;
  curve.at = {0};
  curve.allocated = {90};
  curve.persistent = 10;
  EXPECT_EQ(of_no_pool(curve, 0), 80);
  MemoryPlot plot{.curve = &curve, .trace = &trace, .view = {}, .anchor = 0, .top = 100, .cursor = std::nullopt};
  plot.view = {.begin_ns = 0, .ns_per_px = 10, .width = 100};
  QImage image(static_cast<int>(kLabelWidth) + 100, static_cast<int>(memory_height(500)), QImage::Format_RGB32);
  QPainter painter(&image);
  draw_memory(painter, plot, QRectF(image.rect()), theme(ThemeKind::kLight));
  painter.end();
  const QColor half = image.pixelColor(static_cast<int>(kLabelWidth) + 50, image.height() / 2);
  EXPECT_NE(half, theme(ThemeKind::kLight).background);
  curve.pools.push_back({.stream = std::nullopt, .handle = 0, .allocated = {50}});
  EXPECT_EQ(of_no_pool(curve, 0), 30);
}

TEST(BytesText, IsThatOfReports) { EXPECT_EQ(bytes_text(Bytes{3} << 29), "1.50 GiB"); }

}  // namespace
}  // namespace interlace::gui
