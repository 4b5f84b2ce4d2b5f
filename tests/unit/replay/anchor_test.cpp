#include "simulator/replay/anchor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::replay {
namespace {

Prediction prediction() {
  Diagnostics diagnostics;
  return {.schedule = "any",
          .step_time = 33'000'000,
          .step_time_low = 32'000'000,
          .step_time_high = 35'000'000,
          .trace = trace::TraceBuilder().build(diagnostics)};
}

// The replay says 33 ms, the recorded schedule took 30.
TEST(Anchor, MakesTheRecordedScheduleTakeWhatItTook) {
  const Anchor anchor(30e6, 33'000'000);
  EXPECT_NEAR(anchor.error(), 0.1, 1e-12);
  Prediction recorded = prediction();
  anchor.correct(recorded, 1.0);
  EXPECT_EQ(recorded.step_time, 30'000'000);
  EXPECT_EQ(recorded.step_time_low, 29'090'909);
  EXPECT_EQ(recorded.step_time_high, 31'818'182);
}

TEST(Anchor, CorrectsOthersByThePartOfTheErrorThatTheyShare) {
  Prediction other = prediction();
  Anchor(30e6, 33'000'000).correct(other, 0.0);
  EXPECT_NEAR(static_cast<double>(other.step_time), 33e6 / std::pow(1.1, 0.6), 1);
  Prediction faster = prediction();
  Anchor(36.3e6, 33'000'000).correct(faster, 0.0);
  EXPECT_NEAR(static_cast<double>(faster.step_time), 33e6 * std::pow(1.1, 0.6), 1);
}

TEST(Anchor, CorrectsWhatReplaysNearlyAsTheRecordedOneByNearlyAllOfIt) {
  Prediction alike = prediction();
  Anchor(30e6, 33'000'000).correct(alike, 0.75);
  EXPECT_NEAR(static_cast<double>(alike.step_time), 33e6 / std::pow(1.1, 0.9), 1);
}

TEST(Anchor, IsFarWhereNoSoundRecordingIs) {
  EXPECT_FALSE(Anchor(30e6, 33'000'000).is_far());
  EXPECT_TRUE(Anchor(30e6, 36'000'000).is_far());
  EXPECT_TRUE(Anchor(34'000e6, 33'000'000).is_far()) << "microseconds given for milliseconds";
}

}  // namespace
}  // namespace interlace::replay
