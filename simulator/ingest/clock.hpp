#pragma once

#include <optional>

#include "simulator/base/units.hpp"

namespace interlace::ingest {

/// A start on the recording's clock: base and start together. None where that, or the duration, is more than 95 years
/// (3e18 ns): then differences of any two times would leave int64.
[[nodiscard]] inline std::optional<Nanoseconds> on_clock(Nanoseconds base, Nanoseconds start, Nanoseconds duration) {
  static constexpr Nanoseconds kLimit = 3'000'000'000'000'000'000;
  Nanoseconds on_clock = 0;
  if (__builtin_add_overflow(base, start, &on_clock)) return std::nullopt;
  if (on_clock > kLimit || on_clock < -kLimit || duration > kLimit || duration < -kLimit) return std::nullopt;
  return on_clock;
}

}  // namespace interlace::ingest
