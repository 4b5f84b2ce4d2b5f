// The lines that say what colours mean, of recordings with few and with many stages.
#include <gtest/gtest.h>

#include "gui/compare/picture.hpp"
#include "gui/panels/legend_strip.hpp"

namespace interlace::gui {
namespace {

constexpr int kWidth = 1200;

/// The later ones have more operations.
std::vector<ColourEntry> many_stages(int count) {
  std::vector<ColourEntry> entries;
  for (int i = 0; i < count; ++i) {
    entries.push_back({"stage_" + std::to_string(i) + "<of many>", Rgb{200, 0, 0}, i + 1});
  }
  return entries;
}

TEST(LegendStrip, OfManyStagesNamesThoseOfMostOperations) {
  LegendStrip strip;
  strip.resize(kWidth, 20);
  strip.set_entries(many_stages(20));
  EXPECT_GT(strip.height(), 30) << "all of them, on two lines";
  EXPECT_TRUE(strip.toolTip().isEmpty());
  const int two_lines = strip.height();
  strip.set_entries(many_stages(250));
  EXPECT_LT(strip.height(), 2 * two_lines) << "three lines";
  EXPECT_TRUE(strip.toolTip().contains("stage_0&lt;of many&gt;"));
  EXPECT_FALSE(strip.toolTip().contains("stage_249")) << "it has a place in the strip";
  strip.resize(kWidth / 2, strip.height());
  strip.set_entries(many_stages(250));
  EXPECT_LT(strip.height(), 2 * two_lines);
  EXPECT_TRUE(strip.toolTip().contains("stage_220")) << "the narrower, the more are left";
  Picture picture;
  picture.width = kWidth;
  picture.legend = many_stages(250);
  EXPECT_LT(picture.head_height(), 2.0 * two_lines);
}

TEST(LegendStrip, WhatWasAskedForIsNamedHoweverRareItIs) {
  std::vector<ColourEntry> entries = many_stages(250);
  entries.insert(entries.begin() + 100, {"idle: blocked", Rgb{0, 0, 200}, 1, true});
  const std::vector<ColourEntry> rest = legend_rest(entries, kWidth);
  ASSERT_FALSE(rest.empty());
  for (const ColourEntry& entry : rest) EXPECT_FALSE(entry.overlay);
  EXPECT_EQ(rest.back().operations, 1) << "the rarest is left out first";
}

}  // namespace
}  // namespace interlace::gui
