#include "simulator/ingest/memory_snapshot/as_rank.hpp"

#include <algorithm>
#include <vector>

#include "simulator/ingest/memory_snapshot/allocations.hpp"
#include "simulator/ingest/memory_snapshot/block_bytes.hpp"
#include "simulator/ingest/memory_snapshot/device_choice.hpp"
#include "simulator/ingest/memory_snapshot/flaws.hpp"
#include "simulator/ingest/memory_snapshot/timeline.hpp"

namespace interlace::ingest::memory_snapshot {

namespace {

void add_annotations(const Snapshot& snapshot, const DeviceSnapshot& device, trace::LaneId lane,
                     trace::TraceBuilder& builder, Diagnostics& diagnostics) {
  std::vector<const AnnotationMark*> open;
  std::int64_t without_other_end = 0;
  for (const AnnotationMark& mark : device.marks) {
    if (mark.is_start) {
      open.push_back(&mark);
      continue;
    }
    const auto start =
        std::find_if(open.rbegin(), open.rend(), [&](const auto* one) { return one->name == mark.name; });
    if (start == open.rend()) {
      ++without_other_end;
      continue;
    }
    // What was begun within and is not ended by now is of another thread, or its end is lost.
    without_other_end += start - open.rbegin();
    const Nanoseconds begin = (*start)->time;
    open.erase(std::prev(start.base()), open.end());
    builder.add_range({lane, builder.intern(snapshot.names[mark.name]), begin, mark.time - begin, {}},
                      {.kind = trace::RangeKind::kAnnotation});
  }
  without_other_end += static_cast<std::int64_t>(open.size());
  diagnostics.count(kLooseAnnotation, snapshot.file.string(), without_other_end);
}

}  // namespace

std::optional<Interval> window_of(const Snapshot& snapshot) {
  Diagnostics counted_later;
  const DeviceSnapshot* const device = choose_device(snapshot, std::nullopt, counted_later);
  if (device == nullptr || device->events.empty()) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(device->events, {}, &Event::time);
  return Interval{first.time, last.time};
}

void add_rank(const Snapshot& snapshot, std::int32_t number, trace::TraceBuilder& builder, Diagnostics& diagnostics) {
  diagnostics.merge(snapshot.diagnostics);
  const trace::RankId rank =
      builder.add_rank({.number = number, .source = snapshot.file.string(), .producer = kProducer});
  const DeviceSnapshot* const device = choose_device(snapshot, std::nullopt, diagnostics);
  if (device == nullptr) return;
  const trace::LaneId lane = unknown_thread(builder, rank);
  const std::vector<std::optional<Sighting>> none(device->events.size());
  const std::vector<Place> places = place_events(device->events, none);
  const auto bytes = block_bytes(device->events, std::vector<std::optional<Bytes>>(none.size()), device->segments);
  const trace::StringId name = builder.intern(kOperationName);
  for (std::size_t i = 0; i < places.size(); ++i) {
    builder.add_allocation({lane, name, places[i].time, 0, {}}, detail_of(device->events[i], bytes[i]));
  }
  diagnostics.count(kUnknownThread, snapshot.file.string(), static_cast<std::int64_t>(places.size()));
  add_annotations(snapshot, *device, lane, builder, diagnostics);
  trace::AllocatorState state{.rank = rank, .device = device->device, .settings = snapshot.settings};
  if (!places.empty()) state.time = places.back().time;
  state.segments = device->segments;
  builder.add_allocator_state(std::move(state));
}

}  // namespace interlace::ingest::memory_snapshot
