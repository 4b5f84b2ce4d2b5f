#pragma once

#include <cstdint>
#include <limits>

namespace interlace {

/// The sum, or what is nearest to it. Limits on reading keep each number of a recording within reason, but not how many
/// of them a damaged one has.
[[nodiscard]] constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace interlace
