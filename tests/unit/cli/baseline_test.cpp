#include "simulator/cli/baseline.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::cli {
namespace {

/// Steps of 33 ms with 2 ms of communication, `hidden` of which lies under compute.
Replayed replayed_with(Nanoseconds hidden) {
  Diagnostics none;
  Replayed replayed{.prediction = {.step_time = 33'000'000, .trace = trace::TraceBuilder().build(none)}, .steps = {}};
  analysis::OverlapSummary& mean = replayed.steps.overlap.mean;
  mean.step_ns = 33'000'000;
  mean.communication_ns = 2'000'000;
  mean.communication_hidden_ns = hidden;
  mean.exposed_communication_ns = 2'000'000 - hidden;
  return replayed;
}

report::Prediction row_of(const Replayed& replayed) {
  report::Prediction row;
  row.step_time_ns = replayed.prediction.step_time;
  row.overlap = replayed.steps.overlap.mean;
  return row;
}

/// It replays with 33 ms, all hidden but a fifth; it took 30, and hid a half: 10 % off, and odds of 4 instead of 1.
class BaselineTest : public ::testing::Test {
 protected:
  const Replayed itself = replayed_with(1'600'000);
  const Baseline baseline{itself, replay::Anchor(30e6, 33'000'000),
                          OverlapAnchor(replayed_with(1'000'000).steps.overlap.mean, itself.steps.overlap.mean)};
};

TEST_F(BaselineTest, TellsOfTheRecordedScheduleWhatWasMeasured) {
  EXPECT_EQ(baseline.step_time(), 30'000'000);
  EXPECT_EQ(baseline.itself().prediction.step_time, 33'000'000) << "as replayed";
  report::RecordedRun recorded;
  baseline.describe(recorded);
  EXPECT_EQ(recorded.predicted_step_time_ns, 30'000'000);
  EXPECT_NEAR(recorded.replay_error.value(), 0.1, 1e-12);
  EXPECT_NEAR(recorded.replayed_hidden_ratio.value(), 0.8, 1e-12);
  report::Prediction row = row_of(itself);
  baseline.relate(itself, row);
  EXPECT_EQ(row.step_time_ns, 30'000'000);
  EXPECT_EQ(row.speedup, 1.0);
  EXPECT_EQ(row.overlap.communication_hidden_ns, 1'000'000);
  EXPECT_TRUE(row.reasons.empty());
}

// 0.6 of the logarithm of the step's error, and half of that of the odds: 1 becomes 1/2.
TEST_F(BaselineTest, CorrectsAndComparesOthers) {
  const Replayed other = replayed_with(1'000'000);
  report::Prediction row = row_of(other);
  baseline.relate(other, row);
  EXPECT_NEAR(static_cast<double>(row.step_time_ns), 33e6 / std::pow(1.1, 0.6), 1);
  EXPECT_NEAR(row.speedup.value(), std::pow(1.1, -0.4), 1e-7);
  EXPECT_NEAR(static_cast<double>(row.overlap.communication_hidden_ns), 2e6 / 3, 1);
  ASSERT_FALSE(row.reasons.empty());
  EXPECT_EQ(row.reasons.front(), "exposes 0.60 ms more communication") << "as both were replayed";
}

TEST(Baseline, WithoutErrorsLeavesAllAsReplayed) {
  const Replayed itself = replayed_with(1'600'000);
  const Baseline baseline(itself, std::nullopt, std::nullopt);
  report::Prediction row = row_of(itself);
  baseline.relate(itself, row);
  EXPECT_EQ(row.step_time_ns, 33'000'000);
  EXPECT_EQ(row.overlap, itself.steps.overlap.mean);
  EXPECT_EQ(row.speedup, 1.0);
  Diagnostics found;
  baseline.judge(found);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace interlace::cli
