#include "simulator/base/unrecorded_steps.hpp"

#include <gtest/gtest.h>

namespace interlace {
namespace {

TEST(UnrecordedSteps, AreReadFromTheirMark) {
  const UnrecordedSteps told{.steps = 20, .time = 171'234'567};
  EXPECT_EQ(to_mark(told), "unrecorded steps: 20 in 171234567 ns");  // docs/recording.md names this text
  EXPECT_EQ(unrecorded_steps_of(to_mark(told)), told);
}

TEST(UnrecordedSteps, AreNoneInOtherTexts) {
  for (const char* text : {"", "step", "unrecorded steps: ", "unrecorded steps: 20", "unrecorded steps: 20 in 5 ms",
                           "unrecorded steps: 20 in 5 ns more", "unrecorded steps: 0 in 5 ns",
                           "unrecorded steps: 20 in 0 ns", "unrecorded steps: -2 in 5 ns",
                           "unrecorded steps: 99999999999999999999 in 5 ns", "my unrecorded steps: 20 in 5 ns"}) {
    EXPECT_EQ(unrecorded_steps_of(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace interlace
