#include "simulator/allocator/event_queues.hpp"

#include <algorithm>
#include <limits>

namespace interlace::allocator {

void EventQueues::push(Stream stream, Event event) {
  constexpr std::size_t kWorthCompacting = 64;
  auto queue = std::ranges::lower_bound(queues_, stream, {}, &Queue::stream);
  if (queue == queues_.end() || queue->stream != stream) queue = queues_.insert(queue, Queue{.stream = stream});
  if (queue->begin > kWorthCompacting && queue->begin * 2 > queue->events.size()) {
    queue->events.erase(queue->events.begin(), queue->events.begin() + static_cast<std::ptrdiff_t>(queue->begin));
    queue->begin = 0;
  }
  queue->events.push_back(event);
  ++size_;
}

void EventQueues::all_done() {
  for (Queue& queue : queues_) {
    for (Event& event : queue.events) event.done_at = std::numeric_limits<Nanoseconds>::min();
  }
}

}  // namespace interlace::allocator
