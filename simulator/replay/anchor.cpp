#include "simulator/replay/anchor.hpp"

#include <fmt/format.h>

#include <cmath>

namespace interlace::replay {

namespace {

/// Slope of other schedules' errors over the recorded one's (logarithms of predicted over measured step): 0.68 over 362
/// pairs of 82 recordings (bootstrap over these: 0.40 to 0.94), 0.50 where the recording itself tells the step (86
/// pairs of 28 campaigns, -0.02 to 0.99), as that is off by a percent (tools/accuracy/shared_error.py).
constexpr double kSharedError = 0.6;

}  // namespace

bool Anchor::is_far() const {
  // The farthest of 192 replayed recordings is 8 % off (docs/accuracy.md), one process up to 7 % off the next.
  constexpr double kFar = 0.15;
  return std::abs(error_) > kFar;
}

void Anchor::judge(Diagnostics& diagnostics) const {
  if (is_far()) diagnostics.count(kFarFromMeasured, fmt::format("{:+.1f} % off", 100 * error_));
}

Nanoseconds Anchor::corrected(Nanoseconds replayed, double likeness) const {
  const double by = std::pow(1.0 + error_, std::lerp(kSharedError, 1.0, likeness));
  return std::llround(static_cast<double>(replayed) / by);
}

}  // namespace interlace::replay
