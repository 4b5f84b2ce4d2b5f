#include "simulator/allocator/trace_entry.hpp"

#include <cassert>

namespace interlace::allocator {

std::string_view to_string(Action action) {
  switch (action) {
    case Action::kAlloc: return "alloc";
    case Action::kFreeRequested: return "free_requested";
    case Action::kFreeCompleted: return "free_completed";
    case Action::kSegmentAlloc: return "segment_alloc";
    case Action::kSegmentFree: return "segment_free";
    case Action::kSegmentMap: return "segment_map";
    case Action::kSegmentUnmap: return "segment_unmap";
    case Action::kOom: return "oom";
  }
  assert(false);
  return {};
}

}  // namespace interlace::allocator
