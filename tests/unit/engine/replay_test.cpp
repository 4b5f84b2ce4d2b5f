// Recordings of the engine are cut into the stages of its schedule, and predictions made from them hold.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "simulator/replay/predict.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/recognise.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/cut.hpp"
#include "tests/unit/engine/timeline.hpp"

namespace interlace::engine {
namespace {

constexpr std::int64_t kSteps = 10;

Workload workload_of(const std::string& name) {
  Workload workload = load_workload(name);
  workload.steps = kSteps;
  return workload;
}

double predicted_step(const Timeline& recorded, const stages::Cut& cut, const schedule::Schedule& schedule) {
  Diagnostics diagnostics;
  const replay::Predictor predictor(recorded.trace, cut, diagnostics);
  replay::PredictOptions options;
  options.runs = 1;
  options.simulation.host_scale = 1.0;
  options.simulation.jitter = false;
  options.simulation.machine.contention = false;
  return static_cast<double>(predictor.predict(schedule, options).step_time);
}

class Recorded : public ::testing::TestWithParam<std::string> {};

TEST_P(Recorded, IsCutIntoItsStagesAndKnownAsItsSchedule) {
  const schedule::Schedule schedule = schedule::find(GetParam());
  const Timeline recorded = timeline_of(schedule, workload_of("tiny"));
  ASSERT_EQ(stages::profile_of(recorded.trace).name, "interlace");
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recorded.trace, stages::interlace_profile(), diagnostics);
  EXPECT_EQ(cut.modules, (std::vector<std::string>{"unweighted", "weighted"}));
  EXPECT_GE(cut.iterations(), static_cast<std::size_t>(kSteps) - 3U);
  EXPECT_EQ(diagnostics.count_of(stages::kOutsideAnyStage.code), 0);
  const replay::SiteTable sites = replay::find_sites(recorded.trace, cut, diagnostics);
  const std::vector<schedule::Schedule> library = schedule::all_sound();
  const auto own = replay::likeness(schedule, recorded.trace, cut, sites);
  ASSERT_TRUE(own);
  EXPECT_GT(own->score(), 0.97) << own->order << " " << own->streams;
  const schedule::Schedule* known = replay::recognise(library, recorded.trace, cut, sites);
  ASSERT_NE(known, nullptr);
  const auto other = replay::likeness(*known, recorded.trace, cut, sites);
  EXPECT_TRUE(known->name == schedule.name || other->score() == own->score()) << known->name;
}

TEST_P(Recorded, PredictsItself) {
  const schedule::Schedule schedule = schedule::find(GetParam());
  const Timeline recorded = timeline_of(schedule, workload_of("tiny"));
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recorded.trace, stages::interlace_profile(), diagnostics);
  EXPECT_NEAR(predicted_step(recorded, cut, schedule) / recorded.step_ns, 1.0, 0.02);
}

TEST_P(Recorded, IsPredictedFromSparseDist) {
  const schedule::Schedule schedule = schedule::find(GetParam());
  const Timeline recorded = timeline_of(schedule::find("torchrec/sparse_dist"), workload_of("tiny"));
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recorded.trace, stages::interlace_profile(), diagnostics);
  const Timeline ran = timeline_of(schedule, workload_of("tiny"));
  EXPECT_NEAR(predicted_step(recorded, cut, schedule) / ran.step_ns, 1.0, 0.03);
}

// The two queue the same in the same order; only a wait is at another place.
TEST(NamedRecording, IsKnownByNameWhereNothingElseTells) {
  for (const std::string name : {"comms/a2a_sync", "comms/a2a_async"}) {
    const schedule::Schedule schedule = schedule::find(name);
    const Timeline recorded = timeline_of(schedule, workload_of("tiny-a2a"));
    Diagnostics diagnostics;
    const stages::Cut cut = stages::cut(recorded.trace, stages::interlace_profile(), diagnostics);
    const replay::SiteTable sites = replay::find_sites(recorded.trace, cut, diagnostics);
    EXPECT_EQ(replay::named_schedule(recorded.trace), name);
    const std::vector<schedule::Schedule> library = schedule::all_sound();
    const schedule::Schedule* known = replay::recognise(library, recorded.trace, cut, sites);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->name, name);
    EXPECT_NEAR(predicted_step(recorded, cut, schedule) / recorded.step_ns, 1.0, 0.02) << name;
  }
}

TEST(RecordingOfDataParallelTables, IsNoRecordingOfALoopWithoutThem) {
  const Timeline recorded = timeline_of(schedule::find("recsys/dp_mp_serial"), workload_of("tiny-dp-mp"));
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recorded.trace, stages::interlace_profile(), diagnostics);
  const Timeline overlapped = timeline_of(schedule::find("recsys/dp_mp_overlap"), workload_of("tiny-dp-mp"));
  EXPECT_NEAR(predicted_step(recorded, cut, schedule::find("recsys/dp_mp_overlap")) / overlapped.step_ns, 1.0, 0.02);
  const replay::SiteTable sites = replay::find_sites(recorded.trace, cut, diagnostics);
  EXPECT_EQ(replay::lost_stage(schedule::find("torchrec/sparse_dist"), sites),
            (replay::LostStage{schedule::Stage::kDataParallelLookup, std::nullopt}));
  EXPECT_EQ(replay::lost_stage(schedule::find("recsys/dp_mp_overlap"), sites), std::nullopt);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.find('/') + 1);
  std::erase(name, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Engine, Recorded,
                         ::testing::Values("torchrec/base", "torchrec/sparse_dist_lite", "torchrec/sparse_dist",
                                           "torchrec/sparse_dist_enqueue_after_forward", "torchrec/fused_sparse_dist",
                                           "torchrec/fused_sparse_dist_new_stream",
                                           "torchrec/fused_sparse_dist_current_stream",
                                           "torchrec/fused_sparse_dist_before_optimizer", "torchrec/semi_sync",
                                           "torchrec/staged"),
                         test_name);

}  // namespace
}  // namespace interlace::engine
