#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::des {

/// Events in the order in which they happen: by time, then priority (lower first), then the order in which they were
/// scheduled. The order is total, so a simulation with equal input gives equal output.
template <class Event>
class EventQueue {
 public:
  void schedule(Nanoseconds time, std::int32_t priority, Event event) {
    heap_.push_back({time, priority, next_sequence_++, std::move(event)});
    std::ranges::push_heap(heap_, later);
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// REQUIRES: !empty().
  [[nodiscard]] Nanoseconds next_time() const { return heap_.front().time; }

  /// Removes and returns the next event. REQUIRES: !empty().
  Event pop() {
    assert(!heap_.empty());
    std::ranges::pop_heap(heap_, later);
    Event event = std::move(heap_.back().event);
    heap_.pop_back();
    return event;
  }

 private:
  struct Entry {
    Nanoseconds time;
    std::int32_t priority;
    std::uint64_t sequence;
    Event event;
  };
  static bool later(const Entry& a, const Entry& b) {
    return std::tie(a.time, a.priority, a.sequence) > std::tie(b.time, b.priority, b.sequence);
  }

  std::vector<Entry> heap_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace interlace::des
