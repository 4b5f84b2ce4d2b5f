#include "gui/timeline/memory_plot.hpp"

#include <gtest/gtest.h>

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

TEST(BytesText, HasTheUnitThatFits) {
  EXPECT_EQ(bytes_text(1'640'000'000), "1.64 GB");
  EXPECT_EQ(bytes_text(2'500'000), "2.5 MB");
  EXPECT_EQ(bytes_text(512), "512 B");
}

}  // namespace
}  // namespace interlace::gui
