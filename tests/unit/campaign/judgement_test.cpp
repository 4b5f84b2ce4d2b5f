#include "simulator/campaign/judgement.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulator/campaign/judgement_json.hpp"

namespace interlace::campaign {
namespace {

PredictedSchedule predicted(const std::string& name, double ms) {
  PredictedSchedule made;
  made.schedule = name;
  made.step_ms = ms;
  made.low_ms = ms - 1;
  made.high_ms = ms + 1;
  made.no_contention_ms = ms / 2;
  made.critical_path_ms = 10;
  made.overlap = {0.5, 2.0};
  made.allocated_peak = {1'000, 2'000};
  made.reserved_peak = {3'000, 3'000};
  return made;
}

MeasuredRun run(const std::string& name, std::int32_t repeat, double ms) {
  MeasuredRun made;
  made.schedule = name;
  made.repeat = repeat;
  made.step_ms = ms;
  made.allocated_peak = {1'000, 1'990};
  made.reserved_peak = {3'000, 2'400};
  return made;
}

/// Recorded "a": 40 ms measured, 42 predicted; "b": 30 and 33.6; "c" nearly as "a".
struct Case {
  Case() {
    prediction.recorded = "a";
    prediction.schedules = {predicted("a", 42), predicted("b", 33.6), predicted("c", 41)};
    runs = {run("a", 0, 40),   run("b", 0, 30), run("c", 0, 40.3), run("a", 1, 41),  run("b", 1, 30),
            run("c", 1, 40.2), run("a", 2, 40), run("b", 2, 29.5), run("c", 2, 40.3)};
    traces = {{"b", 0, 31, {0.53, 1.5}, {}, std::nullopt}};
  }
  [[nodiscard]] Judgement judged() const { return judge(prediction, runs, traces); }

  PredictionFile prediction;
  std::vector<MeasuredRun> runs;
  std::vector<MeasuredTrace> traces;
};

TEST(Judgement, HoldsStepsAndSpeedupsAgainstMedians) {
  const Judgement result = Case().judged();
  ASSERT_EQ(result.schedules.size(), 3U);
  const ScheduleJudgement& a = result.schedules[0];
  EXPECT_TRUE(a.recorded);
  EXPECT_DOUBLE_EQ(a.measured_ms, 40);
  EXPECT_DOUBLE_EQ(*a.spread_ms, 1);
  EXPECT_NEAR(*a.step_error, 5, 1e-9);
  EXPECT_FALSE(a.speedup_error);
  EXPECT_FALSE(a.inside);  // 41 to 43
  const ScheduleJudgement& b = result.schedules[1];
  EXPECT_DOUBLE_EQ(*b.spread_ms, 0.5);
  EXPECT_NEAR(*b.step_error, 12, 1e-9);
  // 33.6 / 42 = 0.8 predicted, 30 / 40 = 0.75 measured.
  EXPECT_NEAR(*b.speedup_error, (0.8 / 0.75 - 1) * 100, 1e-9);
  EXPECT_NEAR(*b.no_change_error, (1 / 0.75 - 1) * 100, 1e-9);
  EXPECT_NEAR(*b.no_contention_error, (0.8 / 0.75 - 1) * 100, 1e-9);
  EXPECT_NEAR(*b.critical_path_error, (1 / 0.75 - 1) * 100, 1e-9);
  EXPECT_EQ(result.speedup.count, 2U);
  EXPECT_NEAR(result.speedup.largest, *b.speedup_error, 1e-9);
  EXPECT_EQ(result.step.count, 2U) << "the recorded one was measured before it was predicted";
}

TEST(Judgement, CountsPairsWhoseGapIsBeyondTheSpread) {
  Case one;
  const Judgement right = one.judged();
  // a and c differ by 0.3 ms, less than twice the spread of a.
  EXPECT_EQ(right.pairs_counted, 2U);
  EXPECT_EQ(right.pairs_right, 2U);
  one.prediction.schedules[1].step_ms = 50;
  const Judgement wrong = one.judged();
  EXPECT_EQ(wrong.pairs_counted, 2U);
  EXPECT_EQ(wrong.pairs_right, 0U);
  EXPECT_EQ(wrong.pairs_wrong, (std::vector<std::string>{"b before a", "b before c"}));
}

TEST(Judgement, TellsTheFloorOfRepeats) {
  Case one;
  one.runs = {run("a", 0, 40), run("b", 0, 30), run("a", 1, 40), run("b", 1, 30.3), run("a", 2, 40), run("b", 2, 29.7)};
  const Judgement result = one.judged();
  EXPECT_EQ(result.repeat_floor.count, 3U);
  EXPECT_NEAR(result.repeat_floor.largest, 1, 1e-9);
  EXPECT_NEAR(result.repeat_floor.mean, 2.0 / 3, 1e-9);
}

// A single run is its own median: nothing tells how far another would be off.
TEST(Judgement, KnowsNoSpreadOfASingleRun) {
  Case one;
  one.runs = {run("a", 0, 40), run("b", 0, 30), run("c", 0, 50)};
  const Judgement result = one.judged();
  EXPECT_FALSE(result.schedules[1].spread_ms);
  EXPECT_TRUE(result.schedules[1].speedup_error);
  EXPECT_EQ(result.pairs_counted, 0U);
  EXPECT_EQ(result.repeat_floor.count, 0U);
  one.runs.push_back(run("a", 1, 41));
  one.runs.push_back(run("c", 1, 50));
  EXPECT_EQ(one.judged().pairs_counted, 1U) << "a and c";
  EXPECT_EQ(one.judged().repeat_floor.count, 2U) << "the rounds of c";
}

TEST(Judgement, ComparesPeaksOfTheRanksThatWereRecorded) {
  Case one;
  for (PredictedSchedule& schedule : one.prediction.schedules) {
    schedule.ranks = {1};
    schedule.allocated_peak = {2'000};
    schedule.reserved_peak = {3'000};
  }
  const ScheduleJudgement b = one.judged().schedules[1];
  EXPECT_EQ(b.measured_reserved, 2'400) << "rank 0 reserved 3000, of which nothing was predicted";
  EXPECT_NEAR(*b.allocated_error, (2'000.0 / 1'990 - 1) * 100, 1e-9);
  EXPECT_NEAR(*b.reserved_error, 25, 1e-9);
}

TEST(Judgement, ComparesOverlapAndMemory) {
  const Judgement result = Case().judged();
  const ScheduleJudgement& b = result.schedules[1];
  EXPECT_NEAR(*b.overlap_error, -3, 1e-9);
  EXPECT_FALSE(result.schedules[0].overlap_error);
  EXPECT_EQ(b.measured_allocated, 1'990);
  EXPECT_EQ(b.predicted_allocated, 2'000);
  EXPECT_NEAR(*b.allocated_error, (2'000.0 / 1'990 - 1) * 100, 1e-9);
  EXPECT_NEAR(*b.reserved_error, 25, 1e-9);
  EXPECT_EQ(result.overlap_points.count, 1U);
}

// Steps of 0.5, 0.6, 0.5 and 0.8: mean 0.6, squares of what they are off it 0.06; sqrt(0.06 / 3 / 4).
TEST(Judgement, TheFloorOfOverlapIsTheErrorOfItsMean) {
  Case one;
  one.traces.front().single_steps_hidden = {0.5, 0.6, 0.5, 0.8};
  const Judgement result = one.judged();
  EXPECT_NEAR(*result.schedules[1].overlap_floor, 7.0710678, 1e-6);
  EXPECT_EQ(result.overlap_floor.count, 1U);
  one.traces.front().single_steps_hidden = {0.5};
  EXPECT_FALSE(one.judged().schedules[1].overlap_floor);
}

// Predicted are 0.5: of three runs, one without a result, the mean 0.54 and its error by the two, 0.04.
TEST(Judgement, ComparesWithTheMeanOverlapOfAllRecordedRuns) {
  Case one;
  one.traces.resize(1);
  one.traces.front().overlap = {0.5, 3.0};
  one.traces.push_back({"b", 1, 0, {0.58, 1.0}, {0.1, 0.9}, std::nullopt});
  one.traces.push_back({"b", 2, 0, {}, {}, "no memory"});
  const ScheduleJudgement b = one.judged().schedules[1];
  EXPECT_NEAR(*b.measured_overlap->hidden_ratio, 0.54, 1e-9);
  EXPECT_NEAR(b.measured_overlap->exposed_ms, 2, 1e-9);
  EXPECT_NEAR(*b.overlap_error, -4, 1e-9);
  EXPECT_NEAR(*b.overlap_floor, 4, 1e-9);
}

TEST(Judgement, KeepsWhatFailedApart) {
  Case one;
  std::erase_if(one.runs, [](const MeasuredRun& each) { return each.schedule == "b"; });
  MeasuredRun failed;
  failed.schedule = "b";
  failed.failure = "out of memory";
  one.runs.push_back(failed);
  one.traces.clear();
  const Judgement result = one.judged();
  EXPECT_EQ(result.schedules[1].runs, 0U);
  EXPECT_EQ(result.schedules[1].failure, "out of memory");
  EXPECT_EQ(result.speedup.count, 1U);
  const auto json = nlohmann::json::parse(judgement_json({}, "digest", one.prediction, result));
  EXPECT_EQ(json["schedules"][1]["failure"], "out of memory");
  EXPECT_EQ(json["schedules"][1]["recorded"], false);
  EXPECT_EQ(json["schedules"][1]["predicted_ms"], 33.6);
  EXPECT_TRUE(json["schedules"][1]["measured_ms"].is_null());
  EXPECT_EQ(json["prediction_sha256"], "digest");
  EXPECT_TRUE(json["summary"]["overlap_error_points"].is_null());
  EXPECT_FALSE(json.contains("recordings"));
  Plan often;
  often.recordings = 3;
  EXPECT_EQ(nlohmann::json::parse(judgement_json(often, "", one.prediction, result))["recordings"], 3);
}

TEST(Judgement, OfNothingIsNothing) {
  const Judgement nothing = judge({}, {}, {});
  EXPECT_TRUE(nothing.schedules.empty());
  EXPECT_EQ(nothing.pairs_counted, 0U);
}

}  // namespace
}  // namespace interlace::campaign
