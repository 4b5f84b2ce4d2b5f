#include "simulator/campaign/next_step.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

namespace interlace::campaign {
namespace {

PredictionFile prediction_of_abc() {
  PredictionFile file;
  file.recorded = std::string(1, 'a');
  for (const char* name : {"a", "b", "c"}) {
    PredictedSchedule one;
    one.schedule = name;
    file.schedules.push_back(one);
  }
  return file;
}

Plan plan(std::int32_t repeats) {
  Plan made;
  made.recorded = std::string(1, 'a');  // a literal of one letter makes g++ 12 warn in vain
  made.repeats = repeats;
  made.references = 0;
  return made;
}

/// All steps to the end, each carried out.
std::vector<NextStep> all_steps(const Plan& planned, std::string_view fails = {}) {
  const PredictionFile predicted = prediction_of_abc();
  std::int32_t recordings = 0;
  std::vector<MeasuredRun> references;
  const PredictionFile* known = nullptr;
  std::vector<MeasuredRun> runs;
  std::vector<MeasuredTrace> traces;
  std::vector<NextStep> steps;
  while (steps.size() < 100) {
    steps.push_back(next_step(planned, {recordings, references, known, runs, traces}));
    const NextStep& step = steps.back();
    switch (step.kind) {
      case NextStep::Kind::kRecord: ++recordings; break;
      case NextStep::Kind::kReference: {
        MeasuredRun run;
        run.schedule = step.schedule;
        if (step.schedule == fails) run.failure = std::string("no memory");
        references.push_back(run);
        break;
      }
      case NextStep::Kind::kPredict: known = &predicted; break;
      case NextStep::Kind::kRun: {
        MeasuredRun run;
        run.schedule = step.schedule;
        run.repeat = step.repeat;
        if (step.schedule == fails) run.failure = std::string("no memory");
        runs.push_back(run);
        break;
      }
      case NextStep::Kind::kRecordRun: {
        MeasuredTrace trace;
        trace.schedule = step.schedule;
        trace.repeat = step.repeat;
        traces.push_back(trace);
        break;
      }
      case NextStep::Kind::kDone: return steps;
    }
  }
  return steps;
}

TEST(NextStep, PredictsBeforeItMeasuresAndRotatesTheRounds) {
  using enum NextStep::Kind;
  const std::vector<NextStep> steps = all_steps(plan(3));
  std::string told;
  for (const NextStep& step : steps) {
    static constexpr std::string_view kLetters = "rfpmtd";  // record, reference, predict, measure, record a run, done
    told += kLetters[static_cast<std::size_t>(step.kind)] + step.schedule;
    if (step.kind == kRun) told += std::to_string(step.repeat) + std::to_string(step.position);
    told += ' ';
  }
  EXPECT_EQ(told, "ra p ma00 mb01 mc02 mb10 mc11 ma12 mc20 ma21 mb22 ta tb tc d ");
}

// One that failed is not tried again either.
TEST(NextStep, MakesItsReferencesBeforeItPredicts) {
  using enum NextStep::Kind;
  Plan with = plan(1);
  with.references = 2;
  for (const char* fails : {"", "a"}) {
    const std::vector<NextStep> steps = all_steps(with, fails);
    EXPECT_EQ(steps[1], (NextStep{kReference, "a", 0, 0}));
    EXPECT_EQ(steps[2], (NextStep{kReference, "a", 1, 0}));
    EXPECT_EQ(steps[3].kind, kPredict);
  }
}

TEST(NextStep, RecordsNothingAnewBehindThePrediction) {
  const PredictionFile predicted = prediction_of_abc();
  EXPECT_EQ(next_step(plan(1), {0, {}, &predicted, {}, {}}), (NextStep{NextStep::Kind::kRun, "a", 0, 0}));
}

TEST(NextStep, RecordsNoMoreWhereAskedNotTo) {
  Plan once = plan(1);
  once.record_all = false;
  EXPECT_EQ(all_steps(once).size(), 2U + 3U + 1U);
}

TEST(NextStep, RecordsAsOftenAsAskedTo) {
  using enum NextStep::Kind;
  Plan often = plan(1);
  often.recordings = 2;
  const std::vector<NextStep> steps = all_steps(often);
  EXPECT_EQ(steps[0], (NextStep{kRecord, "a", 0, 0}));
  EXPECT_EQ(steps[1], (NextStep{kRecord, "a", 1, 0}));
  EXPECT_EQ(steps[2].kind, kPredict);
  ASSERT_EQ(steps.size(), 2U + 1U + 3U + 6U + 1U);
  EXPECT_EQ(steps[6], (NextStep{kRecordRun, "a", 0, 0}));
  EXPECT_EQ(steps[9], (NextStep{kRecordRun, "a", 1, 0}));
  often.recording = "made elsewhere";
  EXPECT_EQ(all_steps(often).front().kind, kPredict);
}

TEST(NextStep, TriesAScheduleThatFailedNotAgain) {
  std::map<std::string, int> runs;
  std::map<std::string, int> recorded;
  for (const NextStep& step : all_steps(plan(3), "b")) {
    if (step.kind == NextStep::Kind::kRun) ++runs[step.schedule];
    if (step.kind == NextStep::Kind::kRecordRun) ++recorded[step.schedule];
  }
  EXPECT_EQ(runs, (std::map<std::string, int>{{"a", 3}, {"b", 1}, {"c", 3}}));
  EXPECT_EQ(recorded, (std::map<std::string, int>{{"a", 1}, {"c", 1}}));
}

}  // namespace
}  // namespace interlace::campaign
