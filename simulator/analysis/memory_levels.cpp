#include "simulator/analysis/memory_levels.hpp"

#include <limits>

#include "simulator/base/saturating.hpp"

namespace interlace::analysis {

void MemoryLevels::undo(const trace::AllocationDetail& event) {
  add(event, event.bytes == std::numeric_limits<Bytes>::min() ? 0 : -event.bytes);
}

void MemoryLevels::add(const trace::AllocationDetail& event, Bytes bytes) {
  using enum trace::AllocationAction;
  const Bytes less = bytes == std::numeric_limits<Bytes>::min() ? 0 : -bytes;
  switch (event.action) {
    case kAlloc:
      allocated = saturating_sum(allocated, bytes);
      active = saturating_sum(active, bytes);
      break;
    case kFreeRequested: allocated = saturating_sum(allocated, less); break;
    case kFreeCompleted: active = saturating_sum(active, less); break;
    case kFree:
      allocated = saturating_sum(allocated, less);
      active = saturating_sum(active, less);
      break;
    case kSegmentAlloc:
    case kSegmentMap: reserved = saturating_sum(reserved, bytes); break;
    case kSegmentFree:
    case kSegmentUnmap: reserved = saturating_sum(reserved, less); break;
    case kRecordStream:
    case kOutOfMemory: break;
  }
}

MemoryLevels levels_of(const trace::AllocatorState& state) {
  MemoryLevels levels;
  for (const trace::AllocatorSegment& segment : state.segments) {
    levels.reserved = saturating_sum(levels.reserved, segment.bytes);
    for (const trace::AllocatorBlock& block : segment.blocks) {
      if (block.state == trace::BlockState::kFree) continue;
      levels.active = saturating_sum(levels.active, block.bytes);
      if (block.state == trace::BlockState::kAllocated)
        levels.allocated = saturating_sum(levels.allocated, block.bytes);
    }
  }
  return levels;
}

const trace::AllocatorState* last_state(const trace::Trace& trace, trace::RankId rank) {
  const trace::AllocatorState* last = nullptr;
  for (const trace::AllocatorState& state : trace.allocator_states()) {
    if (state.rank != rank) continue;
    if (last == nullptr || (last->time && (!state.time || *state.time >= *last->time))) last = &state;
  }
  return last;
}

}  // namespace interlace::analysis
