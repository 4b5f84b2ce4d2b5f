#include "simulator/ingest/memory_snapshot/timeline.hpp"

#include <algorithm>
#include <cassert>

namespace interlace::ingest::memory_snapshot {

namespace {

using trace::AllocationAction;

/// A free that no other stream delays: the allocator completes it in the same call.
bool completes_before(const Event& event, const Event& before) {
  return event.action == AllocationAction::kFreeCompleted && before.action == AllocationAction::kFreeRequested &&
         event.address == before.address;
}

bool happens_inside_allocation(const Event& event) {
  switch (event.action) {
    case AllocationAction::kFreeCompleted:
    case AllocationAction::kSegmentAlloc:
    case AllocationAction::kSegmentFree:
    case AllocationAction::kSegmentMap:
    case AllocationAction::kSegmentUnmap: return true;
    default: return false;
  }
}

}  // namespace

Nanoseconds usual_delay(std::span<const Event> events, std::span<const std::optional<Sighting>> sightings) {
  assert(events.size() == sightings.size());
  std::vector<Nanoseconds> delays;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (sightings[i]) delays.push_back(sightings[i]->time - events[i].time);
  }
  if (delays.empty()) return 0;
  const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
  std::ranges::nth_element(delays, middle);
  return *middle;
}

std::vector<Place> place_events(std::span<const Event> events, std::span<const std::optional<Sighting>> sightings) {
  const Nanoseconds delay = usual_delay(events, sightings);
  std::vector<Place> places(events.size());
  // Threads, and the latest time that each may have by itself.
  std::optional<trace::LaneId> allocating;
  for (std::size_t i = events.size(); i-- > 0;) {
    const bool is_inside = happens_inside_allocation(events[i]);
    if (!is_inside) allocating.reset();
    places[i].time = events[i].time + delay;
    if (sightings[i]) places[i] = {sightings[i]->thread, sightings[i]->time};
    if (events[i].action == AllocationAction::kAlloc) allocating = places[i].thread;
    if (is_inside && !sightings[i]) places[i].thread = allocating;
  }
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (sightings[i] || !completes_before(events[i], events[i - 1])) continue;
    places[i].thread = places[i - 1].thread;
    places[i].time = std::max(places[i].time, places[i - 1].time);
  }
  // Of operations at one moment the trace orders those of different lanes by lane.
  for (std::size_t i = events.size(); i-- > 1;) {
    const Nanoseconds apart = places[i - 1].thread == places[i].thread ? 0 : 1;
    places[i - 1].time = std::min(places[i - 1].time, places[i].time - apart);
  }
  return places;
}

}  // namespace interlace::ingest::memory_snapshot
