#include "simulator/report/mean_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "simulator/base/error.hpp"
#include "simulator/report/memory_text.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/predict_table.hpp"
#include "tests/support/error_text.hpp"
#include "tests/unit/report/sample_report.hpp"

namespace interlace::report {
namespace {

/// A run whose steps take 2 ms more, of which all of base's are exposed communication.
PredictReport slower() {
  PredictReport other = sample_report();
  other.recorded.files = {"again"};
  *other.recorded.step_time_ns += 2'000'000;
  *other.recorded.predicted_step_time_ns += 2'000'000;
  *other.recorded.host_blocked_ns += 400'000;
  other.recorded.replay_error = 0.1;
  Prediction& base = other.predictions[0];
  base.step_time_ns += 2'000'000;
  base.step_time_low_ns += 1'000'000;
  base.step_time_high_ns += 3'000'000;
  base.overlap.communication_ns += 2'000'000;
  base.overlap.exposed_communication_ns += 2'000'000;
  base.host_blocked_ns.reset();
  return other;
}

TEST(MeanReport, OfOneRecordingIsThatOne) {
  const PredictReport one = mean_over({sample_report()});
  EXPECT_EQ(one.recorded.recordings, 1);
  EXPECT_EQ(one.predictions.size(), 2U);
  EXPECT_TRUE(one.predictions[0].step_times_ns.empty());
}

TEST(MeanReport, TimesAndOverlapAreMeans) {
  const PredictReport mean = mean_over({sample_report(), slower()});
  EXPECT_EQ(mean.recorded.recordings, 2);
  EXPECT_EQ(mean.recorded.steps, 6);
  EXPECT_EQ(mean.recorded.files, (std::vector<std::string>{"sparse.r0.json.gz", "sparse.r1.json.gz", "again"}));
  EXPECT_EQ(mean.recorded.step_time_ns, 35'100'000);
  EXPECT_EQ(mean.recorded.predicted_step_time_ns, 35'000'000);
  EXPECT_EQ(mean.recorded.host_blocked_ns, 24'500'000);
  EXPECT_EQ(mean.recorded.replay_error, 0.1);  // of those that know it
  EXPECT_EQ(mean.recorded.diagnostics[0].count, 2 * 1234);
  const Prediction& base = mean.predictions[0];
  EXPECT_EQ(base.step_times_ns, (std::vector<Nanoseconds>{36'000'000, 38'000'000}));
  EXPECT_EQ(base.step_time_ns, 37'000'000);
  EXPECT_EQ(base.step_time_low_ns, 36'000'000);
  EXPECT_EQ(base.step_time_high_ns, 38'500'000);
  EXPECT_DOUBLE_EQ(base.speedup.value(), 35.0 / 37.0);
  EXPECT_EQ(base.overlap.communication_ns, 9'000'000);
  EXPECT_EQ(base.overlap.exposed_communication_ns, 7'000'000);
  EXPECT_EQ(base.host_blocked_ns, 5'250'000);
  EXPECT_EQ(base.reasons, sample_report().predictions[0].reasons);
  EXPECT_FALSE(mean.predictions[1].speedup);
}

TEST(MeanReport, LeavesOutWhatOneOfThemLeavesOut) {
  PredictReport other = slower();
  other.skipped.push_back({other.predictions[1].schedule, "this one has no stage for it"});
  other.predictions.pop_back();
  for (const bool first : {true, false}) {
    const PredictReport mean = first ? mean_over({other, sample_report()}) : mean_over({sample_report(), other});
    ASSERT_EQ(mean.predictions.size(), 1U);
    EXPECT_EQ(mean.skipped.size(), 3U);
  }
}

TEST(MeanReport, RefusesOtherJobs) {
  const auto refused = [](auto change) {
    PredictReport other = slower();
    change(other.recorded);
    return testing::error_text([&] { static_cast<void>(mean_over({sample_report(), other})); });
  };
  EXPECT_NE(refused([](RecordedRun& run) { run.schedule = "torchrec/base"; })
                .find("again: holds torchrec/base on ranks 0, 1 of 2, and sparse.r0.json.gz torchrec/sparse_dist on "
                      "ranks 0, 1 of 2"),
            std::string::npos);
  EXPECT_NE(refused([](RecordedRun& run) { run.ranks = {0}; }).find("on rank 0 of 2, and"), std::string::npos);
  EXPECT_NE(refused([](RecordedRun& run) { run.world_size = 4; }).find("0, 1 of 4, and"), std::string::npos);
  EXPECT_EQ(refused([](RecordedRun& run) { run.world_size.reset(); }), "");
}

TEST(MeanReport, TellsOfRunsThatLookLikeOtherJobs) {
  const auto flaws = [](auto change) {
    PredictReport first = sample_report();
    PredictReport other = slower();
    first.recorded.works_a_step = 250;
    other.recorded.works_a_step = 240;
    first.recorded.largest_exchange = 100'000'000;
    other.recorded.largest_exchange = 100'000'000;
    change(other.recorded);
    Diagnostics found;
    for (const Diagnostic& flaw : mean_over({first, other}).recorded.diagnostics) found.add(flaw);
    return found.count_of("report.unlike_recordings");
  };
  EXPECT_EQ(flaws([](RecordedRun&) {}), 0);
  EXPECT_EQ(flaws([](RecordedRun& run) { run.works_a_step.reset(); }), 0);
  EXPECT_EQ(flaws([](RecordedRun& run) { run.works_a_step = 226; }), 1);
  EXPECT_EQ(flaws([](RecordedRun& run) { run.largest_exchange = 95'000'000; }), 0);
  EXPECT_EQ(flaws([](RecordedRun& run) { run.largest_exchange = 89'000'000; }), 1);
  EXPECT_EQ(flaws([](RecordedRun& run) { *run.step_time_ns *= 2; }), 1);
  EXPECT_EQ(flaws([](RecordedRun& run) { *run.step_time_ns /= 2; }), 1);
}

// Of the two ranks the fuller one, in each respect; what is not known is not told.
TEST(RecordedPeaks, AreThoseOfTheFullestRanks) {
  RecordedRun recorded;
  EXPECT_EQ(recorded_peaks(recorded), "");
  recorded.memory = {{0, 3 << 20, std::nullopt, 5 << 20}, {1, 4 << 20, std::nullopt, std::nullopt}};
  EXPECT_EQ(recorded_peaks(recorded), "allocated 4.0 MiB, reserved 5.0 MiB at most");
}

TEST(MeanReport, IsToldInTableAndJson) {
  const PredictReport mean = mean_over({sample_report(), slower()});
  std::ostringstream table;
  write_predict_table(table, mean, {});
  EXPECT_NE(table.str().find("2 ranks, 2 recordings, 6 steps"), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("by recording: 36.00, 38.00 ms"), std::string::npos) << table.str();
  std::ostringstream json;
  write_predict_json(json, mean);
  EXPECT_NE(json.str().find("step_times_of_recordings_ns"), std::string::npos);
}

}  // namespace
}  // namespace interlace::report
