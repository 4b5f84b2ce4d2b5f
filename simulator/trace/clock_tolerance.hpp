#pragma once

#include "simulator/base/units.hpp"

namespace interlace::trace {

/// How far host and device clocks, or the clocks of two ranks of one host, may disagree in a recording.
inline constexpr Nanoseconds kClockTolerance = 50 * kMicrosecond;

}  // namespace interlace::trace
