#pragma once

#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// What an allocator holds. A step of analysis/memory and memory_curve.
struct MemoryLevels {
  Bytes allocated = 0;
  Bytes active = 0;
  Bytes reserved = 0;

  /// To what they are after this event.
  void apply(const trace::AllocationDetail& event) { add(event, event.bytes); }
  /// To what they were before it.
  void undo(const trace::AllocationDetail& event);

 private:
  void add(const trace::AllocationDetail& event, Bytes bytes);
};

/// What a recorded state of the allocator holds.
[[nodiscard]] MemoryLevels levels_of(const trace::AllocatorState& state);

/// Of a rank, the latest; one without a time is of the end. Null where none is recorded.
[[nodiscard]] const trace::AllocatorState* last_state(const trace::Trace& trace, trace::RankId rank);

}  // namespace interlace::analysis
