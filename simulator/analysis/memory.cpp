#include "simulator/analysis/memory.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "simulator/analysis/memory_levels.hpp"
#include "simulator/base/saturating.hpp"

namespace interlace::analysis {

namespace {

using trace::AllocationDetail;
using trace::AllocatorState;
using trace::OperationId;

std::vector<StreamMemory> streams_of(const AllocatorState& state, const trace::Trace& trace) {
  std::map<std::uint64_t, StreamMemory> by_handle;
  for (const trace::AllocatorSegment& segment : state.segments) {
    StreamMemory& stream = by_handle[segment.stream_handle];
    ++stream.segments;
    stream.reserved = saturating_sum(stream.reserved, segment.bytes);
    for (const trace::AllocatorBlock& block : segment.blocks) {
      if (block.state == trace::BlockState::kAllocated)
        stream.allocated = saturating_sum(stream.allocated, block.bytes);
      if (block.state == trace::BlockState::kPendingFree) stream.pending = saturating_sum(stream.pending, block.bytes);
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

/// events: of one rank, on its device, in order.
void find_peaks(const trace::Trace& trace, const std::vector<OperationId>& events, const AllocatorState& state,
                MemoryUse& use) {
  MemoryLevels levels = levels_of(state);
  MemoryLevels peak = levels;
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
