#pragma once

#include <compare>
#include <cstdint>

#include "simulator/base/id.hpp"
#include "simulator/base/units.hpp"

namespace interlace::allocator {

/// A device address.
using Address = std::uint64_t;

/// A CUDA stream as the allocator knows it: its raw handle, 0 for the default stream. The order of handles matters.
using Stream = std::uint64_t;

/// Names a private pool (of a CUDA graph or a MemPool), as PyTorch does; {0, 0} is the default pool.
struct PoolId {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  [[nodiscard]] bool is_default() const { return first == 0 && second == 0; }
  auto operator<=>(const PoolId&) const = default;
};

/// A block of a CachingAllocator. Good from malloc until the block is complete; then it may name another block.
using BlockId = Id<struct BlockTag>;

inline constexpr Bytes kKiB = 1024;
inline constexpr Bytes kMiB = 1024 * kKiB;
inline constexpr Bytes kGiB = 1024 * kMiB;

/// A use of a block by a stream other than its own, as record_stream() notes it.
struct StreamUse {
  Stream stream = 0;
  /// When `stream` has finished all that was queued on it at the moment of the free: then the event completes that the
  /// allocator records there.
  Nanoseconds drained_at = 0;
};

}  // namespace interlace::allocator
