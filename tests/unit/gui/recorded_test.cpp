// What is made of the shipped recordings.
#include "gui/session/recorded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "gui/session/forecast.hpp"
#include "gui/session/sample.hpp"
#include "gui/timeline/dependencies.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::gui {
namespace {

const std::filesystem::path kTraces = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces";

RecordedPtr open_base() {
  return open_recording({kTraces / "torchrec_c6/base.r0.json.gz", kTraces / "torchrec_c6/base.r1.json.gz"}, {});
}

TEST(OpenRecording, KnowsScheduleStepsAndStages) {
  const RecordedPtr recorded = open_base();
  EXPECT_EQ(recorded->facts.schedule, std::optional<std::string>("torchrec/base"));
  const gui::Run& run = *recorded->run;
  ASSERT_EQ(run.steps().size(), 2U);
  ASSERT_EQ(run.first_steps().size(), 2U);
  EXPECT_EQ(run.first_steps()[0].end, run.first_steps()[1].begin);
  // Nearly all device work belongs to a stage of the schedule language: that is what prediction moves about.
  std::size_t device_work = 0;
  std::size_t staged = 0;
  const Interval steps{run.first_steps().front().begin, run.first_steps().back().end};
  for (std::uint32_t i = 0; i < run.trace().size(); ++i) {
    if (!trace::is_device_work(run.trace().kind({i})) || !steps.contains(run.trace().start({i}))) continue;
    ++device_work;
    const auto stage = schedule::stage_named(run.scene().tags().stages()[run.scene().tags().stage_of({i})]);
    if (stage) ++staged;
  }
  EXPECT_GT(device_work, 500U);
  EXPECT_GT(static_cast<double>(staged), 0.98 * static_cast<double>(device_work));
}

TEST(OpenRecording, WithoutKnownAnnotationsCanBeLookedAt) {
  const RecordedPtr recorded = open_recording({kTraces / "hta/simple_add"}, {});
  EXPECT_FALSE(recorded->cut);
  EXPECT_FALSE(recorded->no_predictions.empty());
  EXPECT_GT(recorded->run->scene().lanes().rows.size(), 0U);
  Forecaster forecaster(recorded);
  try {
    (void)forecaster.predict(schedule::find("torchrec/base"), {});
    FAIL() << "predicted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCannotPredict.name);
    EXPECT_NE(error.problem().find(recorded->no_predictions), std::string::npos);
  }
}

TEST(SampleRecording, IsFoundFromBelowAndNowhereElse) {
  const std::filesystem::path source(INTERLACE_SOURCE_DIR);
  EXPECT_EQ(sample_recording(source / "build/some/where"), sample_recording(source));
  EXPECT_EQ(sample_recording(source).size(), 2U);
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(sample_recording(folder.path()).empty());
}

TEST(OpenRecording, CanBeGivenUp) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)open_recording({kTraces / "hta/simple_add"}, {{}, stop.get_token()}), Cancelled);
}

/// How many arrows of each kind the operations of a run have.
std::map<DependencyKind, std::size_t> arrows_of(const gui::Run& run) {
  std::map<DependencyKind, std::size_t> counts;
  for (std::uint32_t i = 0; i < run.trace().size(); ++i) {
    for (const Dependency& arrow : dependencies_of(*run.dependencies(), {i})) ++counts[arrow.kind];
  }
  return counts;
}

TEST(Forecaster, PredictedWorkHasArrowsOfAllKindsThatMatter) {
  const RecordedPtr recorded = open_base();
  Forecaster forecaster(recorded);
  const ForecastPtr forecast = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
  for (const RunPtr& run : {recorded->run, forecast->run}) {
    const auto arrows = arrows_of(*run);
    for (const DependencyKind kind : {DependencyKind::kLaunch, DependencyKind::kEvent, DependencyKind::kHostWait,
                                      DependencyKind::kCollectivePeer}) {
      EXPECT_TRUE(arrows.contains(kind)) << run->title() << ": " << to_string(kind);
    }
  }
}

TEST(Forecaster, PredictsMemoryWhereItWasRecorded) {
  const auto folder = kTraces / "torchrec_c6";
  const RecordedPtr recorded = open_recording({folder / "base.mem.r0.json.gz", folder / "base.mem.r1.json.gz",
                                               folder / "base.mem.r0.snap.pickle", folder / "base.mem.r1.snap.pickle"},
                                              {});
  Forecaster forecaster(recorded);
  const ForecastPtr forecast = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
  ASSERT_EQ(forecast->row.memory.size(), 2U);
  for (const report::RankMemory& rank : forecast->row.memory) {
    EXPECT_GT(rank.allocated_peak, rank.persistent);
    EXPECT_GE(rank.reserved_peak, rank.allocated_peak);
  }
}

TEST(Forecaster, PredictsWhatReplayPredicts) {
  const RecordedPtr recorded = open_base();
  Forecaster forecaster(recorded);
  const schedule::Schedule sparse = schedule::find("torchrec/sparse_dist");
  const ForecastPtr forecast = forecaster.predict(sparse, {});
  Diagnostics counted;
  const replay::Predictor predictor(recorded->run->trace(), *recorded->cut, counted);
  const replay::Prediction expected = predictor.predict(sparse, {});
  EXPECT_EQ(forecast->row.step_time_ns, expected.step_time);
  EXPECT_EQ(forecast->run->steps(), expected.steps);
  ASSERT_EQ(forecast->run->trace().size(), expected.trace.size());
  EXPECT_TRUE(std::ranges::equal(forecast->run->trace().starts(), expected.trace.starts()));
  const Nanoseconds base = predictor.predict(schedule::find("torchrec/base"), {}).step_time;
  EXPECT_EQ(forecaster.replayed_step(), std::optional(base));
  EXPECT_DOUBLE_EQ(forecast->row.speedup.value(), static_cast<double>(base) / static_cast<double>(expected.step_time));
  EXPECT_FALSE(forecast->row.reasons.empty());
}

}  // namespace
}  // namespace interlace::gui
