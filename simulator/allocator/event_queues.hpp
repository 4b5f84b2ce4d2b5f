#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

/// The events that free() recorded and that have not been seen complete: a queue for each stream, looked at from the
/// front. An unfinished event hides finished ones behind it in the same queue, not those of other queues.
class EventQueues {
 public:
  struct Event {
    Nanoseconds done_at = 0;
    BlockId block;
  };

  void push(Stream stream, Event event);
  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// All events so far are done, whatever was said of them.
  void all_done();

  /// Takes every event that can be seen complete at `now`, streams in order of their handles, and calls
  /// visit(BlockId) for each.
  template <class Visit>
  void poll(Nanoseconds now, Visit visit) {
    for (Queue& queue : queues_) {
      while (!queue.empty() && queue.front().done_at <= now) take(queue, visit);
    }
  }

  /// Takes all events. The moment at which the last one is done; none: there was no event.
  template <class Visit>
  std::optional<Nanoseconds> drain(Visit visit) {
    std::optional<Nanoseconds> last;
    for (Queue& queue : queues_) {
      while (!queue.empty()) {
        if (!last || *last < queue.front().done_at) last = queue.front().done_at;
        take(queue, visit);
      }
    }
    return last;
  }

 private:
  struct Queue {
    Stream stream = 0;
    std::vector<Event> events;
    std::size_t begin = 0;  ///< of those not yet taken

    [[nodiscard]] bool empty() const { return begin == events.size(); }
    [[nodiscard]] const Event& front() const { return events[begin]; }
  };

  template <class Visit>
  void take(Queue& queue, Visit& visit) {
    const BlockId block = queue.front().block;
    ++queue.begin;
    --size_;
    if (queue.empty()) {
      queue.events.clear();
      queue.begin = 0;
    }
    visit(block);
  }

  std::vector<Queue> queues_;  ///< by stream
  std::size_t size_ = 0;
};

}  // namespace interlace::allocator
