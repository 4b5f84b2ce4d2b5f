#include "simulator/analysis/memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace interlace::analysis {

namespace {

using trace::AllocationAction;
using trace::AllocationDetail;
using trace::AllocatorState;
using trace::OperationId;

/// Sizes come from files: their sums must not overflow.
Bytes sum_of(Bytes a, Bytes b) {
  Bytes sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<Bytes>::min() : std::numeric_limits<Bytes>::max();
}

struct Levels {
  Bytes allocated = 0;
  Bytes active = 0;
  Bytes reserved = 0;

  /// To what they were before this event.
  void undo(const AllocationDetail& event) {
    const Bytes back = event.bytes == std::numeric_limits<Bytes>::min() ? 0 : -event.bytes;
    switch (event.action) {
      case AllocationAction::kAlloc:
        allocated = sum_of(allocated, back);
        active = sum_of(active, back);
        break;
      case AllocationAction::kFreeRequested: allocated = sum_of(allocated, event.bytes); break;
      case AllocationAction::kFreeCompleted: active = sum_of(active, event.bytes); break;
      case AllocationAction::kFree:
        allocated = sum_of(allocated, event.bytes);
        active = sum_of(active, event.bytes);
        break;
      case AllocationAction::kSegmentAlloc:
      case AllocationAction::kSegmentMap: reserved = sum_of(reserved, back); break;
      case AllocationAction::kSegmentFree:
      case AllocationAction::kSegmentUnmap: reserved = sum_of(reserved, event.bytes); break;
      case AllocationAction::kRecordStream:
      case AllocationAction::kOutOfMemory: break;
    }
  }
};

std::vector<StreamMemory> streams_of(const AllocatorState& state, const trace::Trace& trace) {
  std::map<std::uint64_t, StreamMemory> by_handle;
  for (const trace::AllocatorSegment& segment : state.segments) {
    StreamMemory& stream = by_handle[segment.stream_handle];
    ++stream.segments;
    stream.reserved = sum_of(stream.reserved, segment.bytes);
    for (const trace::AllocatorBlock& block : segment.blocks) {
      if (block.state == trace::BlockState::kAllocated) stream.allocated = sum_of(stream.allocated, block.bytes);
      if (block.state == trace::BlockState::kPendingFree) stream.pending = sum_of(stream.pending, block.bytes);
    }
  }
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (lane.rank != state.rank || lane.kind != trace::LaneKind::kStream || !lane.handle) continue;
    if (const auto known = by_handle.find(*lane.handle); known != by_handle.end()) known->second.stream = {i};
  }
  std::vector<StreamMemory> streams;
  for (auto& [handle, stream] : by_handle) {
    stream.handle = handle;
    streams.push_back(stream);
  }
  return streams;
}

const AllocatorState* last_state(const trace::Trace& trace, trace::RankId rank) {
  const AllocatorState* last = nullptr;
  for (const AllocatorState& state : trace.allocator_states()) {
    if (state.rank != rank) continue;
    // One without a time is of the end.
    if (last == nullptr || (last->time && (!state.time || *state.time >= *last->time))) last = &state;
  }
  return last;
}

/// events: of one rank, on its device, in order.
void find_peaks(const trace::Trace& trace, const std::vector<OperationId>& events, const AllocatorState& state,
                MemoryUse& use) {
  Levels levels;
  for (const StreamMemory& stream : use.streams) {
    levels.allocated = sum_of(levels.allocated, stream.allocated);
    levels.active = sum_of(levels.active, sum_of(stream.allocated, stream.pending));
    levels.reserved = sum_of(levels.reserved, stream.reserved);
  }
  Levels peak = levels;
  for (auto op = events.rbegin(); op != events.rend(); ++op) {
    const AllocationDetail& event = *trace.allocation(*op);
    // Reports of the profiler that were not joined would count twice.
    if (!event.stream_handle || (state.time && trace.start(*op) > *state.time)) continue;
    levels.undo(event);
    peak.allocated = std::max(peak.allocated, levels.allocated);
    peak.active = std::max(peak.active, levels.active);
    peak.reserved = std::max(peak.reserved, levels.reserved);
  }
  use.allocated_peak = peak.allocated;
  use.active_peak = peak.active;
  use.reserved_peak = peak.reserved;
}

}  // namespace

std::vector<MemoryUse> memory_use(const trace::Trace& trace) {
  std::vector<std::vector<OperationId>> events(trace.ranks().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const AllocationDetail* const detail = trace.allocation({i});
    if (detail != nullptr && detail->on_device) events[trace.rank_of({i}).index()].push_back({i});
  }
  std::vector<MemoryUse> all;
  for (std::uint32_t rank = 0; rank < events.size(); ++rank) {
    const AllocatorState* const state = last_state(trace, {rank});
    if (state == nullptr && events[rank].empty()) continue;
    MemoryUse use{.rank = {rank}, .events = static_cast<std::int64_t>(events[rank].size())};
    for (const OperationId op : events[rank]) {
      const AllocationDetail& detail = *trace.allocation(op);
      if (detail.stream_handle && detail.total_allocated) ++use.joined;
      if (state != nullptr) continue;
      if (detail.total_allocated)
        use.allocated_peak = std::max(use.allocated_peak.value_or(0), *detail.total_allocated);
      if (detail.total_reserved) use.reserved_peak = std::max(use.reserved_peak.value_or(0), *detail.total_reserved);
    }
    if (state != nullptr) {
      use.streams = streams_of(*state, trace);
      use.settings = state->settings;
      find_peaks(trace, events[rank], *state, use);
    }
    all.push_back(std::move(use));
  }
  return all;
}

}  // namespace interlace::analysis
