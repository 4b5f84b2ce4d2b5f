#pragma once

#include <string_view>

#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

/// What PyTorch's allocator history calls them.
enum class Action : std::uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOom,
};

/// "alloc", "free_requested", ...
[[nodiscard]] std::string_view to_string(Action action);

/// An entry of the allocator's history.
struct TraceEntry {
  Action action = Action::kAlloc;
  Address address = 0;  ///< of the block or segment; of an oom, the bytes that the driver had left
  /// Of alloc and free, the bytes asked for; of a segment, its bytes; of an oom, the rounded request.
  Bytes size = 0;
  Stream stream = 0;  ///< the owner
  PoolId pool;
  Nanoseconds time = 0;

  bool operator==(const TraceEntry&) const = default;
};

}  // namespace interlace::allocator
