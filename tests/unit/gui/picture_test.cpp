// What is drawn is what was measured or predicted: on the screen and in files the same.
#include "gui/compare/picture.hpp"

#include <gtest/gtest.h>

#include <QImage>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "gui/compare/legend.hpp"
#include "gui/compare/render.hpp"
#include "gui/timeline/draw_rows.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

const std::filesystem::path kTorchRecTraces =
    std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";

class PictureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    recorded_ = open_recording({kTorchRecTraces / "base.r0.json.gz", kTorchRecTraces / "base.r1.json.gz"}, {});
    Forecaster forecaster(recorded_);
    sparse_ = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
    fused_ = forecaster.predict(schedule::find("torchrec/fused_sparse_dist"), {});
  }
  static void TearDownTestSuite() {
    recorded_.reset();
    sparse_.reset();
    fused_.reset();
  }

  static QImage image_of(const Picture& picture) {
    QImage image(static_cast<int>(picture.width), static_cast<int>(picture.height()), QImage::Format_RGB32);
    image.fill(Qt::magenta);
    QPainter painter(&image);
    draw_picture(painter, picture);
    painter.end();
    return image;
  }

  static inline RecordedPtr recorded_;
  static inline ForecastPtr sparse_;
  static inline ForecastPtr fused_;
};

TEST_F(PictureTest, DrawsIntervalsWhereThePredictedTraceHasThem) {
  const RenderedComparison comparison(recorded_, {sparse_}, {.width = 20'000});
  const PaneContent& pane = comparison.picture().panes[1].content;
  const trace::Trace& trace = sparse_->run->trace();
  const Viewport view = pane.trace_view();
  std::map<trace::OperationId, Box> drawn;
  for (const PlacedBox& placed : boxes_in_sight(pane, 2000)) {
    if (!placed.box.folded) drawn.emplace(placed.operation, placed.box);
  }
  std::size_t compared = 0;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    const bool wide = static_cast<double>(trace.duration(op)) >= view.ns_per_px;
    const bool in_sight = trace.end(op) >= view.visible().begin && trace.start(op) <= view.visible().end;
    if (!trace::is_device_work(trace.kind(op)) || !wide || !in_sight) continue;
    ASSERT_TRUE(drawn.contains(op)) << trace.name(op);
    const double tolerance = view.ns_per_px * 1e-6;
    EXPECT_NEAR(view.ns_at(drawn.at(op).left), static_cast<double>(trace.start(op)), tolerance);
    EXPECT_NEAR(view.ns_at(drawn.at(op).right), static_cast<double>(trace.end(op)), tolerance);
    ++compared;
  }
  EXPECT_GT(compared, 300U);
}

TEST_F(PictureTest, PaintsTheLongestKernelInTheColourOfItsStage) {
  const RenderedComparison comparison(recorded_, {sparse_}, {});
  const Picture& picture = comparison.picture();
  const QImage image = image_of(picture);
  const PaneContent& pane = picture.panes[1].content;
  const QRectF plot = areas_of(picture.pane_area(1)).plot;
  std::optional<PlacedBox> longest;
  for (const PlacedBox& placed : boxes_in_sight(pane, plot.height())) {
    if (!trace::is_device_work(pane.scene->trace().kind(placed.operation))) continue;
    if (placed.box.left < 0 || placed.box.right > plot.width()) continue;
    if (!longest || placed.box.right - placed.box.left > longest->box.right - longest->box.left) longest = placed;
  }
  ASSERT_TRUE(longest);
  const QRect pixels = pixels_of(longest->box, longest->top, longest->height, plot);
  const Rgb expected = pane.colouring->entry_of(longest->operation).colour.value();
  // Beside the text, which stands on the left.
  EXPECT_EQ(image.pixelColor(pixels.right() - 1, pixels.top() + 1), to_qcolor(expected));
}

TEST_F(PictureTest, DifferentSchedulesLookDifferentAndTheSameOneTheSame) {
  const auto draw = [&](const ForecastPtr& forecast) {
    return image_of(RenderedComparison(recorded_, {forecast}, {}).picture());
  };
  const QImage sparse = draw(sparse_);
  EXPECT_EQ(sparse, draw(sparse_));
  EXPECT_NE(sparse, draw(fused_));
  EXPECT_EQ(sparse.size(), QSize(1920, 1080));
}

TEST_F(PictureTest, MeasuredAndPredictedStepsBeginAtTheSamePixel) {
  const RenderedComparison comparison(recorded_, {sparse_}, {});
  const auto x_of_step = [](const PaneContent& pane) {
    for (const Interval& step : pane.steps) {
      if (step.begin == pane.anchor) return pane.trace_view().x_of(step.begin);
    }
    return -1.0;
  };
  EXPECT_GT(x_of_step(comparison.picture().panes[0].content), 0);
  EXPECT_DOUBLE_EQ(x_of_step(comparison.picture().panes[0].content), x_of_step(comparison.picture().panes[1].content));
}

TEST_F(PictureTest, ShowsWhyStepsTakeSoLongWhereAsked) {
  const auto draw = [&](const RenderOptions& options) {
    return image_of(RenderedComparison(recorded_, {sparse_}, options).picture());
  };
  const QImage plain = draw({});
  const QImage critical = draw({.critical_path = true});
  const QImage idle = draw({.idle = true});
  EXPECT_NE(critical, plain);
  EXPECT_NE(idle, plain);
  EXPECT_NE(idle, critical);
  const RenderedComparison both(recorded_, {sparse_}, {.critical_path = true, .idle = true});
  for (const PicturePane& pane : both.picture().panes) {
    EXPECT_FALSE(pane.content.critical.empty());
    EXPECT_FALSE(pane.content.idle.empty());
  }
  EXPECT_EQ(both.picture().legend.front().name.rfind("idle: ", 0), 0U);
}

TEST_F(PictureTest, ShowsMemoryOnOneScaleWhereItWasRecorded) {
  const RecordedPtr recorded =
      open_recording({kTorchRecTraces / "base.mem.r0.json.gz", kTorchRecTraces / "base.mem.r1.json.gz",
                      kTorchRecTraces / "base.mem.r0.snap.pickle", kTorchRecTraces / "base.mem.r1.snap.pickle"},
                     {});
  Forecaster forecaster(recorded);
  const ForecastPtr sparse = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
  const RenderedComparison comparison(recorded, {sparse}, {});
  const Picture& picture = comparison.picture();
  ASSERT_TRUE(picture.panes[0].memory && picture.panes[1].memory);
  EXPECT_EQ(picture.panes[0].memory->top, picture.panes[1].memory->top);
  EXPECT_EQ(picture.panes[0].memory->view, picture.panes[0].content.view);
  EXPECT_EQ(picture.panes[1].memory->anchor, picture.panes[1].content.anchor);
  EXPECT_EQ(std::lround(picture.height()), 1080) << "the rows make room";
  const RenderedComparison without(recorded, {sparse}, {.memory = false});
  EXPECT_FALSE(without.picture().panes[0].memory);
  EXPECT_NE(image_of(picture), image_of(without.picture()));
}

TEST_F(PictureTest, SaysHowManyRowsDoNotFitAndInWhatSizeTheyWould) {
  const auto rows_of = [](const RenderedComparison& comparison) {
    std::size_t rows = 0;
    for (const PicturePane& pane : comparison.picture().panes) {
      EXPECT_LE(pane.content.placement->height, pane.height - kAbovePlot) << "what is drawn is drawn as a whole";
      rows += pane.content.placement->rows.size() + pane.content.rows_cut;
    }
    return rows;
  };
  const RenderedComparison roomy(recorded_, {sparse_, fused_}, {.width = 900});
  EXPECT_TRUE(roomy.remarks().empty());
  const RenderedComparison tight(recorded_, {sparse_, fused_}, {.width = 900, .height = 600});
  EXPECT_EQ(std::lround(tight.picture().height()), 600);
  EXPECT_EQ(rows_of(tight), rows_of(roomy));
  ASSERT_EQ(tight.remarks().size(), 1U);
  const std::string& remark = tight.remarks().front();
  const auto told = remark.find(" rows do not fit: --size 900x");
  ASSERT_NE(told, std::string::npos) << remark;
  std::size_t cut = 0;
  for (const PicturePane& pane : tight.picture().panes) cut += pane.content.rows_cut;
  EXPECT_EQ(std::stoul(remark), cut);
  const double enough = std::stod(remark.substr(remark.find('x') + 1));
  const auto draw = [&](double height) {
    return RenderedComparison(recorded_, {sparse_, fused_}, {.width = 900, .height = height});
  };
  EXPECT_TRUE(draw(enough).remarks().empty());
  EXPECT_FALSE(draw(enough - 5).remarks().empty());
}

TEST_F(PictureTest, IsAsLargeAsAskedOrSaysThatItCannotBe) {
  std::optional<double> enough;  // as the refusals say
  int drawn = 0;
  for (double height = 200; height < 700; height += 7) {
    const RenderOptions options{.width = 900, .height = height};
    try {
      const RenderedComparison comparison(recorded_, {sparse_, fused_}, options);
      EXPECT_EQ(comparison.picture().size(), QSize(900, static_cast<int>(height)));
      EXPECT_GE(height, enough.value_or(0));
      ++drawn;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kSizeTooSmall.name);
      enough = std::stod(error.advice().substr(error.advice().find("900x") + 4));
      EXPECT_LT(height, *enough);
    }
  }
  EXPECT_GT(drawn, 0);
  ASSERT_TRUE(enough);
  EXPECT_NO_THROW(RenderedComparison(recorded_, {sparse_, fused_}, {.width = 900, .height = *enough}));
}

TEST_F(PictureTest, ALowPictureHasAllStreamsOfTheFirstRank) {
  const RenderedComparison low(recorded_, {sparse_}, {.width = 900, .height = 420});
  for (const PicturePane& pane : low.picture().panes) {
    const Lanes& lanes = pane.content.scene->lanes();
    ASSERT_GT(pane.content.rows_cut, 0U);
    for (std::uint32_t i = 0; i < lanes.lanes.size(); ++i) {
      const bool first = pane.content.scene->trace().lane(lanes.lanes[i].lane).rank == trace::RankId{0};
      if (lanes.lanes[i].use != LaneUse::kStream || !first) continue;
      EXPECT_NE(std::ranges::find(pane.content.placement->lanes, i, &PlacedLane::lane),
                pane.content.placement->lanes.end())
          << lanes.lanes[i].title;
    }
  }
}

TEST_F(PictureTest, ANarrowPictureHasTheWholeLegend) {
  const RenderedComparison wide(recorded_, {sparse_}, {});
  const RenderedComparison narrow(recorded_, {sparse_}, {.width = 500});
  EXPECT_EQ(legend_height(narrow.picture().legend, 1e6), legend_height(wide.picture().legend, 1920)) << "one line";
  EXPECT_GE(legend_height(narrow.picture().legend, 500), 2 * legend_height(wide.picture().legend, 1920));
  EXPECT_EQ(std::lround(narrow.picture().height()), 1080);
}

TEST_F(PictureTest, ShowsNoMoreStepsThanThereAre) {
  const auto end_of = [&](std::size_t steps) {
    const RenderedComparison comparison(recorded_, {sparse_}, {.steps = steps});
    return std::pair(comparison.picture().panes[0].content.view.visible().end, comparison.remarks());
  };
  const auto steps = [](const RunPtr& run) { return run->first_steps(); };
  const std::size_t most = std::max(steps(recorded_->run).size(), steps(sparse_->run).size());
  const auto [end, none] = end_of(most);
  EXPECT_TRUE(none.empty());
  const auto [far_end, remarks] = end_of(50);
  EXPECT_EQ(far_end, end);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks.front(), std::to_string(most) + " steps are shown: there are no more");
}

TEST_F(PictureTest, BatchesAreCountedFromTheStepAtTimeZero) {
  ASSERT_NE(recorded_->run->first_steps().size(), sparse_->run->first_steps().size()) << "so the middle ones differ";
  for (const std::size_t steps : {1U, 2U, 3U}) {
    const RenderedComparison comparison(recorded_, {sparse_}, {.colour_by = ColourBy::kBatch, .steps = steps});
    for (const PicturePane& pane : comparison.picture().panes) {
      const trace::Trace& trace = pane.content.scene->trace();
      // The step's own batch takes most of its device time.
      const auto step = std::ranges::find(pane.content.steps, pane.content.anchor, &Interval::begin);
      ASSERT_NE(step, pane.content.steps.end());
      std::map<std::string, Nanoseconds> busy;
      for (std::uint32_t i = 0; i < trace.size(); ++i) {
        const trace::OperationId op{i};
        if (trace.kind(op) != trace::OperationKind::kKernel || trace.rank_of(op).index() != 0) continue;
        const Interval span{trace.start(op), trace.end(op)};
        busy[pane.content.colouring->entry_of(op).name] += intersection(span, *step).length();
      }
      const auto most = std::ranges::max_element(busy, {}, [](const auto& batch) { return batch.second; });
      EXPECT_EQ(most->first, "aligned batch") << steps << " steps, " << pane.content.title.toStdString();
    }
  }
}

TEST_F(PictureTest, SaysFirstThatAScheduleRaces) {
  const std::filesystem::path racy =
      std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/schedules/bugs/lookup_without_data_dist_edge.json";
  Forecaster forecaster(recorded_);
  const ForecastPtr forecast = forecaster.predict(schedule::load(racy.string()), {});
  ASSERT_FALSE(forecast->row.hazards.empty());
  const std::string count = std::to_string(forecast->row.hazards.size()) + " hazard";
  const RenderedComparison comparison(recorded_, {sparse_, forecast}, {});
  const Picture& picture = comparison.picture();
  EXPECT_TRUE(picture.panes[1].content.alarm.isEmpty());
  EXPECT_TRUE(picture.panes[2].content.alarm.startsWith(QString::fromStdString("✗ " + count)));
  ASSERT_EQ(comparison.remarks().size(), 1U);
  EXPECT_EQ(comparison.remarks().front().rfind(forecast->schedule.name + " has " + count, 0), 0U)
      << comparison.remarks().front();
}

TEST_F(PictureTest, WritesPngSvgAndPdf) {
  const testing::TemporaryFolder folder;
  const RenderedComparison comparison(recorded_, {sparse_}, {.width = 1000, .height = 700, .theme = ThemeKind::kDark});
  const auto begin_of = [&](const char* name) {
    write_picture(comparison.picture(), folder.path() / name);
    std::ifstream file(folder.path() / name, std::ios::binary);
    std::string begin(5, '\0');
    file.read(begin.data(), 5);
    return begin;
  };
  EXPECT_EQ(begin_of("a.png"), "\x89PNG\r");
  EXPECT_EQ(begin_of("a.svg"), "<?xml");
  EXPECT_EQ(begin_of("a.pdf"), "%PDF-");
  const QImage read(QString::fromStdString((folder.path() / "a.png").string()));
  EXPECT_EQ(read.size(), QSize(1000, 700));
}

TEST_F(PictureTest, SaysWhyItCannotBeWritten) {
  const testing::TemporaryFolder folder;
  const RenderedComparison comparison(recorded_, {}, {});
  const auto code_of = [&](const std::filesystem::path& file) {
    try {
      write_picture(comparison.picture(), file);
    } catch (const Error& error) {
      EXPECT_EQ(error.place(), file.string());
      return std::string(error.code());
    }
    return std::string();
  };
  EXPECT_EQ(code_of(folder.path() / "a.bmp"), kUnknownPictureFormat.name);
  EXPECT_EQ(code_of(folder.path() / "no/such/folder/a.png"), kCannotWritePicture.name);
}

// A pixel more than Qt draws.
TEST_F(PictureTest, WhatCannotBeWrittenLeavesTheOldOne) {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("a.png", "the old one");
  Picture picture = RenderedComparison(recorded_, {}, {}).picture();
  picture.panes.front().height += 32'768 - std::round(picture.height());
  try {
    write_picture(picture, file);
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCannotWritePicture.name);
    EXPECT_NE(error.advice().find(".svg"), std::string::npos) << "has no such limit";
  }
  std::ifstream in(file);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(in)), {}), "the old one");
}

}  // namespace
}  // namespace interlace::gui
