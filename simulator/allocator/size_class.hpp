#pragma once

#include "simulator/allocator/configuration.hpp"
#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

inline constexpr Bytes kMinBlockSize = 512;              ///< every block is a multiple of this
inline constexpr Bytes kSmallSize = 1 * kMiB;            ///< the largest block of the small pool
inline constexpr Bytes kSmallSegmentSize = 2 * kMiB;     ///< every segment of the small pool, and its page
inline constexpr Bytes kMinLargeAllocation = 10 * kMiB;  ///< from here on a request gets a segment of its own size,
inline constexpr Bytes kRoundLargeSegment = 2 * kMiB;    ///< rounded up to this

/// The size of block that a request of `requested` > 0 bytes needs.
[[nodiscard]] Bytes round_size(Bytes requested, const Configuration& configuration);

/// Whether blocks of this (rounded) size live in the small pool.
[[nodiscard]] constexpr bool is_small(Bytes rounded) { return rounded <= kSmallSize; }

/// The segment to ask the driver for when no free block holds `rounded` bytes.
[[nodiscard]] Bytes segment_size(Bytes rounded, const Configuration& configuration);

}  // namespace interlace::allocator
