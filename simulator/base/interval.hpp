#pragma once

#include <algorithm>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace {

/// A half-open span of time [begin, end).
struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] constexpr Nanoseconds length() const { return end > begin ? end - begin : 0; }
  [[nodiscard]] constexpr bool contains(Nanoseconds t) const { return begin <= t && t < end; }
  constexpr auto operator<=>(const Interval&) const = default;
};

[[nodiscard]] constexpr Interval intersection(Interval a, Interval b) {
  const Nanoseconds begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// A set of points in time, kept as sorted intervals that neither touch nor overlap.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of any intervals, in any order; empty ones are ignored.
  explicit IntervalSet(std::vector<Interval> any);

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] Nanoseconds length() const;
  /// How much of `window` is in the set. O(log n + hits).
  [[nodiscard]] Nanoseconds covered(Interval window) const;

 private:
  std::vector<Interval> intervals_;
};

[[nodiscard]] IntervalSet intersection(const IntervalSet& a, const IntervalSet& b);
/// What is in `a` and not in `b`.
[[nodiscard]] IntervalSet difference(const IntervalSet& a, const IntervalSet& b);

}  // namespace interlace
