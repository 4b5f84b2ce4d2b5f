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

/// The smallest interval that holds both; an empty one holds nothing.
[[nodiscard]] constexpr Interval hull(Interval a, Interval b) {
  if (a.length() == 0) return b;
  if (b.length() == 0) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// From the earlier of two times to the later.
[[nodiscard]] constexpr Interval between(Nanoseconds a, Nanoseconds b) { return {std::min(a, b), std::max(a, b)}; }

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
