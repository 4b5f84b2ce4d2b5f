#include "gui/timeline/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gui/compare/legend.hpp"
#include "gui/session/tagging.hpp"
#include "gui/theme/theme.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

Triple times(const Matrix& matrix, const Triple& vector) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * vector[j];
  }
  return result;
}

Triple linear(Rgb colour) {
  const auto channel = [](std::uint8_t byte) {
    const double value = byte / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return {channel(colour.red), channel(colour.green), channel(colour.blue)};
}

/// Björn Ottosson's OKLab of linear sRGB.
Triple oklab(const Triple& rgb) {
  const Matrix to_cones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                            {0.2119034982, 0.6806995451, 0.1073969566},
                            {0.0883024619, 0.2817188376, 0.6299787005}}};
  const Matrix to_lab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                          {1.9779984951, -2.4285922050, 0.4505937099},
                          {0.0259040371, 0.7827717662, -0.8086757660}}};
  Triple cones = times(to_cones, rgb);
  for (double& value : cones) value = std::cbrt(std::max(value, 0.0));
  return times(to_lab, cones);
}

/// As people without red or green cones see it: Machado, Oliveira and Fernandes 2009, severity 1.
const Matrix kProtan = {
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
const Matrix kDeutan = {
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
const Matrix kEverybody = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

double distance(const Triple& a, const Triple& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

TEST(Palette, UsualStagesDifferForEverybody) {
  constexpr std::array kUsual = {"copy_batch_to_gpu", "input_dist_start",  "input_dist_wait",  "input_dist_finish",
                                 "embedding_lookup",  "output_dist_start", "output_dist_wait", "dense_forward",
                                 "backward",          "optimizer_step",    "zero_grad"};
  constexpr double kTellApart = 0.1;  // five times a just noticeable difference of two patches side by side
  for (const Matrix& eye : {kEverybody, kProtan, kDeutan}) {
    for (std::size_t i = 0; i < kUsual.size(); ++i) {
      for (std::size_t j = i + 1; j < kUsual.size(); ++j) {
        const Triple a = oklab(times(eye, linear(stage_colour(kUsual[i]).value())));
        const Triple b = oklab(times(eye, linear(stage_colour(kUsual[j]).value())));
        EXPECT_GT(distance(a, b), kTellApart) << kUsual[i] << " and " << kUsual[j];
      }
    }
  }
}

/// Of 1 to 21, by WCAG 2.
double contrast(const QColor& a, const QColor& b) {
  const auto of = [](const QColor& colour) {
    return luminance({static_cast<std::uint8_t>(colour.red()), static_cast<std::uint8_t>(colour.green()),
                      static_cast<std::uint8_t>(colour.blue())});
  };
  return (std::max(of(a), of(b)) + 0.05) / (std::min(of(a), of(b)) + 0.05);
}

TEST(Theme, IdleBandsAreSeenAndReadOnEachLane) {
  for (const ThemeKind kind : {ThemeKind::kLight, ThemeKind::kDark}) {
    const Theme& colours = theme(kind);
    for (const QColor& behind : {colours.background, colours.lane}) {
      for (const QColor& idle : colours.idle) {
        const QColor band = mixed(idle, behind, idle.alphaF());
        EXPECT_GT(contrast(band, behind), 1.5) << idle.name().toStdString();
        EXPECT_GT(contrast(band, colours.text), 4.5) << idle.name().toStdString();
      }
    }
  }
}

TEST(Palette, EveryStageOfTheLanguageButComputeHasAColour) {
  for (std::size_t i = 0; i < schedule::kStages; ++i) {
    const auto word = schedule::to_string(static_cast<schedule::Stage>(i));
    EXPECT_EQ(stage_colour(word).has_value(), word != "compute") << word;
  }
}

trace::Trace predicted_like() {
  SmallTrace small;
  const auto thread = small.thread(1);
  const auto main = small.stream(1, "main (priority 0)");
  small.annotation(thread, "embedding_lookup[ebc] 7", 0, 100);
  small.call(thread, "launch", 10, 20, 1);
  small.kernel(main, "lookup", 30, 60, 1);
  small.annotation(thread, "optimizer_step 6", 100, 200);
  small.call(thread, "launch 2", 110, 120, 2);
  small.kernel(main, "adam", 130, 160, 2);
  small.kernel(main, "alone", 170, 180);
  return small.build();
}

TEST(Tagging, ReadsStagesAndBatchesOfAPrediction) {
  const trace::Trace trace = predicted_like();
  const Tags tags = tags_of_prediction(trace);
  const auto stage = [&](std::string_view name) { return tags.stages()[tags.stage_of(named(trace, name))]; };
  EXPECT_EQ(stage("lookup"), "embedding_lookup");
  EXPECT_EQ(stage("launch 2"), "optimizer_step");
  EXPECT_EQ(stage("alone"), "");
  EXPECT_EQ(tags.batch_of(named(trace, "adam")), std::optional(0));  // the first step trains batch 0
  EXPECT_EQ(tags.batch_of(named(trace, "lookup")), std::optional(1));
  EXPECT_EQ(tags.batch_of(named(trace, "alone")), std::nullopt);
}

TEST(Colouring, GivesEveryOperationAClassThatOccurs) {
  const trace::Trace trace = predicted_like();
  const Lanes lanes = lay_out(trace);
  const Tags tags = tags_of_prediction(trace);
  for (const ColourBy by : {ColourBy::kStage, ColourBy::kBatch, ColourBy::kKind, ColourBy::kStream}) {
    const Colouring colouring = colour(trace, lanes, tags, by);
    ASSERT_EQ(colouring.class_of.size(), trace.size());
    std::int64_t counted = 0;
    for (const ColourEntry& entry : colouring.classes) counted += entry.operations;
    EXPECT_EQ(counted, static_cast<std::int64_t>(trace.size())) << to_string(by);
  }
  const Colouring stages = colour(trace, lanes, tags, ColourBy::kStage);
  EXPECT_EQ(stages.entry_of(named(trace, "lookup")).name, "embedding_lookup");
  EXPECT_EQ(stages.entry_of(named(trace, "lookup")).colour, stage_colour("embedding_lookup"));
  EXPECT_EQ(stages.entry_of(named(trace, "alone")).colour, std::nullopt);
  const Colouring streams = colour(trace, lanes, tags, ColourBy::kStream);
  EXPECT_EQ(streams.entry_of(named(trace, "launch")).name, "main");  // a call has the colour of its stream
}

TEST(Colouring, CountsBatchesFromTheAlignedOne) {
  const trace::Trace trace = predicted_like();
  const Lanes lanes = lay_out(trace);
  const Tags tags = tags_of_prediction(trace);
  // "adam" is of batch 0, "lookup" of batch 1; another trace may call them 30 and 31.
  Tags later(trace.size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (const auto batch = tags.batch_of({i})) later.set_batch({i}, *batch + 30);
  }
  const Colouring here = colour(trace, lanes, tags, ColourBy::kBatch, 0);
  const Colouring there = colour(trace, lanes, later, ColourBy::kBatch, 30);
  EXPECT_EQ(here.class_of, there.class_of);
  EXPECT_EQ(here.entry_of(named(trace, "adam")).name, "aligned batch");
  EXPECT_EQ(there.entry_of(named(trace, "lookup")).name, "batch +1");
  EXPECT_NE(here.entry_of(named(trace, "adam")).colour, here.entry_of(named(trace, "lookup")).colour);
  const std::array both = {&here, &there};
  EXPECT_EQ(legend_of(both).size(), 2U);
}

// semi_sync copies three batches ahead, and the host may run two steps ahead of the device.
TEST(Colouring, NamesBatchesThatAreFarAhead) {
  const trace::Trace trace = predicted_like();
  const Lanes lanes = lay_out(trace);
  const trace::OperationId adam = named(trace, "adam");
  const auto entry_of = [&](std::int32_t from_aligned) {
    Tags tags(trace.size());
    tags.set_batch(adam, 30 + from_aligned);
    return colour(trace, lanes, tags, ColourBy::kBatch, 30).entry_of(adam);
  };
  EXPECT_EQ(entry_of(-1).name, "batch -1");
  EXPECT_EQ(entry_of(4).name, "batch +4");
  EXPECT_EQ(entry_of(5).name, "batch +5");
  std::vector<Rgb> colours;
  for (std::int32_t batch = -1; batch <= 5; ++batch) colours.push_back(entry_of(batch).colour.value());
  for (std::size_t i = 0; i < colours.size(); ++i) {
    EXPECT_EQ(std::ranges::count(colours, colours[i]), 1) << "as batch " << i;
  }
  for (const std::int32_t far : {-20, -9, -3, -2, 6, 7, 50}) {
    EXPECT_EQ(entry_of(far).name, "batches farther away: colours repeat");
    EXPECT_EQ(entry_of(far).colour, entry_of(far + 7).colour);
  }
}

TEST(Legend, HasNoOneColourForBatchesFarAway) {
  const trace::Trace trace = predicted_like();
  Tags tags(trace.size());
  tags.set_batch(named(trace, "adam"), 10);
  tags.set_batch(named(trace, "lookup"), 12);
  const Colouring colouring = colour(trace, lay_out(trace), tags, ColourBy::kBatch, 0);
  const std::array one = {&colouring};
  const std::vector<ColourEntry> legend = legend_of(one);
  ASSERT_EQ(legend.size(), 1U);
  EXPECT_EQ(legend.front().colour, std::nullopt);
  EXPECT_EQ(legend.front().operations, 2);
}

TEST(Legend, ListsWhatOccursInTheOrderOfAStep) {
  const trace::Trace trace = predicted_like();
  const Lanes lanes = lay_out(trace);
  const Colouring colouring = colour(trace, lanes, tags_of_prediction(trace), ColourBy::kStage);
  const std::array twice = {&colouring, &colouring};
  const std::vector<ColourEntry> legend = legend_of(twice);
  ASSERT_EQ(legend.size(), 2U);
  EXPECT_EQ(legend[0].name, "embedding_lookup");
  EXPECT_EQ(legend[1].name, "optimizer_step");
  EXPECT_EQ(legend[1].operations, 6);  // range, call and kernel, in both
}

}  // namespace
}  // namespace interlace::gui
