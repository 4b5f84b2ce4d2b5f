#include "cupti_collector/clock.hpp"

#include <gtest/gtest.h>

namespace interlace::collector {
namespace {

trace::ClockSnapshot at(Nanoseconds time, Nanoseconds monotonic, Nanoseconds width) {
  return {.time = time, .realtime = time, .monotonic = monotonic, .monotonic_raw = monotonic, .width = width};
}

TEST(Clock, SnapshotsAreBracketed) {
  const trace::ClockSnapshot clocks = read_clocks([] { return std::optional(recording_time()); });
  EXPECT_GE(clocks.width, 0);
  EXPECT_LE(std::abs(clocks.time - clocks.realtime), clocks.width + 1'000);
}

TEST(Clock, WithoutCuptiTheSystemsClockCounts) {
  const trace::ClockSnapshot clocks = read_clocks([]() -> std::optional<Nanoseconds> { return std::nullopt; });
  EXPECT_EQ(clocks.time, clocks.realtime);
}

TEST(ClockWatch, SeesTheClockBeingSet) {
  ClockWatch watch;
  EXPECT_EQ(watch.step(at(0, 0, 100)), 0);
  EXPECT_EQ(watch.step(at(kSecond + 30, kSecond, 100)), 0) << "drift";
  const Nanoseconds step = 40 * kMillisecond;
  EXPECT_EQ(watch.step(at(2 * kSecond + 30 + step, 2 * kSecond, 100)), step);
  EXPECT_EQ(watch.step(at(3 * kSecond + 30, 3 * kSecond, 100)), -step);
}

TEST(ClockWatch, AllowsForDriftAndWideSnapshots) {
  ClockWatch watch;
  static_cast<void>(watch.step(at(0, 0, 100)));
  // 600 ppm of a second is 600 us.
  EXPECT_EQ(watch.step(at(kSecond + 500 * kMicrosecond, kSecond, 100)), 0);
  EXPECT_EQ(watch.step(at(2 * kSecond + 1'800 * kMicrosecond, 2 * kSecond, kMillisecond)), 0);
  EXPECT_NE(watch.step(at(3 * kSecond + 5'000 * kMicrosecond, 3 * kSecond, 100)), 0);
}

}  // namespace
}  // namespace interlace::collector
