#include "simulator/base/interval.hpp"

#include <utility>

namespace interlace {

IntervalSet::IntervalSet(std::vector<Interval> any) {
  std::erase_if(any, [](Interval i) { return i.length() == 0; });
  if (!std::ranges::is_sorted(any, {}, &Interval::begin)) std::ranges::sort(any, {}, &Interval::begin);
  for (const Interval i : any) {
    if (!intervals_.empty() && i.begin <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, i.end);
    } else {
      intervals_.push_back(i);
    }
  }
}

Nanoseconds IntervalSet::length() const {
  Nanoseconds sum = 0;
  for (const Interval i : intervals_) sum += i.length();
  return sum;
}

Nanoseconds IntervalSet::covered(Interval window) const {
  auto at = std::ranges::upper_bound(intervals_, window.begin, {}, &Interval::end);
  Nanoseconds sum = 0;
  for (; at != intervals_.end() && at->begin < window.end; ++at) sum += intersection(*at, window).length();
  return sum;
}

IntervalSet intersection(const IntervalSet& a, const IntervalSet& b) {
  std::vector<Interval> common;
  auto i = a.intervals().begin();
  auto j = b.intervals().begin();
  while (i != a.intervals().end() && j != b.intervals().end()) {
    common.push_back(intersection(*i, *j));
    (i->end < j->end ? i : j)++;
  }
  return IntervalSet(std::move(common));
}

IntervalSet difference(const IntervalSet& a, const IntervalSet& b) {
  std::vector<Interval> rest;
  auto cut = b.intervals().begin();
  for (const Interval whole : a.intervals()) {
    Nanoseconds from = whole.begin;
    while (cut != b.intervals().end() && cut->end <= from) ++cut;
    for (auto c = cut; c != b.intervals().end() && c->begin < whole.end; ++c) {
      rest.push_back({from, c->begin});
      from = std::max(from, c->end);
    }
    rest.push_back({from, whole.end});
  }
  return IntervalSet(std::move(rest));
}

}  // namespace interlace
