#pragma once

#include <optional>
#include <span>
#include <vector>

#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest::memory_snapshot {

/// Where and when the profiler saw an event, if it did.
struct Sighting {
  trace::LaneId thread;
  Nanoseconds time = 0;
};

/// Where an event goes in the trace. thread: none where it is not known.
struct Place {
  std::optional<trace::LaneId> thread;
  Nanoseconds time = 0;
};

/// How much later than the allocator the profiler's clock saw the events: the median; 0 where it saw none.
[[nodiscard]] Nanoseconds usual_delay(std::span<const Event> events,
                                      std::span<const std::optional<Sighting>> sightings);

/// Puts events among the operations of a trace so that their order in time, by the trace's own rules, is that of the
/// snapshot, which the allocator's lock made and which is exact.
///
/// Threads: where seen. A free that is complete at once is on the thread of its request; what else happens inside an
/// allocation (frees that polling completes, segments that come or go) on the thread of the allocation that follows.
///
/// Times: those of the profiler, which has nanoseconds and its own thread's order, but may be late where another thread
/// went on; so none is later than those of the events behind it. Events that were not seen are put usual_delay after
/// the allocator's own time, in microseconds, and not before the request that they complete.
[[nodiscard]] std::vector<Place> place_events(std::span<const Event> events,
                                              std::span<const std::optional<Sighting>> sightings);

}  // namespace interlace::ingest::memory_snapshot
