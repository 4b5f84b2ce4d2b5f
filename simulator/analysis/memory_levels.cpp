#include "simulator/analysis/memory_levels.hpp"

#include <limits>

namespace interlace::analysis {

Bytes sum_of(Bytes a, Bytes b) {
  Bytes sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<Bytes>::min() : std::numeric_limits<Bytes>::max();
}

void MemoryLevels::undo(const trace::AllocationDetail& event) {
  add(event, event.bytes == std::numeric_limits<Bytes>::min() ? 0 : -event.bytes);
}

void MemoryLevels::add(const trace::AllocationDetail& event, Bytes bytes) {
  using enum trace::AllocationAction;
  const Bytes less = bytes == std::numeric_limits<Bytes>::min() ? 0 : -bytes;
  switch (event.action) {
    case kAlloc:
      allocated = sum_of(allocated, bytes);
      active = sum_of(active, bytes);
      break;
    case kFreeRequested: allocated = sum_of(allocated, less); break;
    case kFreeCompleted: active = sum_of(active, less); break;
    case kFree:
      allocated = sum_of(allocated, less);
      active = sum_of(active, less);
      break;
    case kSegmentAlloc:
    case kSegmentMap: reserved = sum_of(reserved, bytes); break;
    case kSegmentFree:
    case kSegmentUnmap: reserved = sum_of(reserved, less); break;
    case kRecordStream:
    case kOutOfMemory: break;
  }
}

MemoryLevels levels_of(const trace::AllocatorState& state) {
  MemoryLevels levels;
  for (const trace::AllocatorSegment& segment : state.segments) {
    levels.reserved = sum_of(levels.reserved, segment.bytes);
    for (const trace::AllocatorBlock& block : segment.blocks) {
      if (block.state == trace::BlockState::kFree) continue;
      levels.active = sum_of(levels.active, block.bytes);
      if (block.state == trace::BlockState::kAllocated) levels.allocated = sum_of(levels.allocated, block.bytes);
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
