#include "cupti_collector/clock.hpp"

#include <ctime>

namespace interlace::collector {

namespace {

/// A clock that is being slewed runs at most 500 ppm off; a snapshot is taken each second.
constexpr std::int64_t kMostDriftPerMillion = 600;
constexpr int kTries = 5;

Nanoseconds now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Nanoseconds steady_time() { return now(CLOCK_MONOTONIC); }

Nanoseconds recording_time() { return now(CLOCK_REALTIME); }

trace::ClockSnapshot read_clocks(const std::function<std::optional<Nanoseconds>()>& cupti_time) {
  trace::ClockSnapshot best;
  for (int i = 0; i < kTries; ++i) {
    trace::ClockSnapshot clocks;
    const Nanoseconds begin = now(CLOCK_MONOTONIC);
    clocks.realtime = now(CLOCK_REALTIME);
    clocks.time = cupti_time().value_or(clocks.realtime);
    clocks.monotonic_raw = now(CLOCK_MONOTONIC_RAW);
    clocks.monotonic = now(CLOCK_MONOTONIC);
    clocks.width = clocks.monotonic - begin;
    if (i == 0 || clocks.width < best.width) best = clocks;
  }
  return best;
}

Nanoseconds ClockWatch::step(const trace::ClockSnapshot& now) {
  Nanoseconds step = 0;
  if (last_) {
    const Nanoseconds passed = now.monotonic - last_->monotonic;
    const Nanoseconds moved = (now.time - last_->time) - passed;
    const Nanoseconds allowed = now.width + last_->width + passed / 1'000'000 * kMostDriftPerMillion + kMicrosecond;
    if (moved > allowed || moved < -allowed) step = moved;
  }
  last_ = now;
  return step;
}

}  // namespace interlace::collector
