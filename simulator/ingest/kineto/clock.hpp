#pragma once

#include <optional>

#include "simulator/ingest/kineto/events.hpp"

namespace interlace::ingest::kineto {

/// A span's start on the recording's clock. None where that, or the duration, is more than 95 years (3e18 ns): then
/// differences of any two times would leave int64.
[[nodiscard]] inline std::optional<Nanoseconds> on_clock(Nanoseconds base, const Span& span) {
  static constexpr Nanoseconds kLimit = 3'000'000'000'000'000'000;
  Nanoseconds start = 0;
  if (__builtin_add_overflow(base, span.start, &start)) return std::nullopt;
  if (start > kLimit || start < -kLimit || span.duration > kLimit || span.duration < -kLimit) return std::nullopt;
  return start;
}

}  // namespace interlace::ingest::kineto
