#include "simulator/replay/anchor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace interlace::replay {
namespace {

// The replay says 33 ms, the recorded schedule took 30.
TEST(Anchor, MakesTheRecordedScheduleTakeWhatItTook) {
  const Anchor anchor(30e6, 33'000'000);
  EXPECT_NEAR(anchor.error(), 0.1, 1e-12);
  EXPECT_EQ(anchor.corrected(33'000'000, 1.0), 30'000'000);
  EXPECT_EQ(anchor.corrected(32'000'000, 1.0), 29'090'909);
  EXPECT_EQ(anchor.corrected(35'000'000, 1.0), 31'818'182);
}

TEST(Anchor, CorrectsOthersByThePartOfTheErrorThatTheyShare) {
  const auto corrected = [](double measured_ns) {
    return static_cast<double>(Anchor(measured_ns, 33'000'000).corrected(33'000'000, 0.0));
  };
  EXPECT_NEAR(corrected(30e6), 33e6 / std::pow(1.1, 0.6), 1);
  EXPECT_NEAR(corrected(36.3e6), 33e6 * std::pow(1.1, 0.6), 1);
}

TEST(Anchor, CorrectsWhatReplaysNearlyAsTheRecordedOneByNearlyAllOfIt) {
  const Nanoseconds alike = Anchor(30e6, 33'000'000).corrected(33'000'000, 0.75);
  EXPECT_NEAR(static_cast<double>(alike), 33e6 / std::pow(1.1, 0.9), 1);
}

TEST(Anchor, IsFarWhereNoSoundRecordingIs) {
  EXPECT_FALSE(Anchor(30e6, 33'000'000).is_far());
  EXPECT_TRUE(Anchor(30e6, 36'000'000).is_far());
  EXPECT_TRUE(Anchor(34'000e6, 33'000'000).is_far()) << "microseconds given for milliseconds";
}

}  // namespace
}  // namespace interlace::replay
