#include "simulator/allocator/size_class.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>

namespace interlace::allocator {

namespace {

constexpr int kFirstInterval = 20;  // log2 of 1 MiB

Bytes round_up(Bytes n, Bytes multiple) { return (n + multiple - 1) / multiple * multiple; }

int floor_log2(Bytes n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1; }

Bytes divisions_for(Bytes n, const Configuration& configuration) {
  constexpr int kLast = static_cast<int>(Configuration::kDivisionIntervals) - 1;
  const int interval = std::clamp(floor_log2(n) - kFirstInterval, 0, kLast);
  return configuration.roundup_power2_divisions.at(static_cast<std::size_t>(interval));
}

}  // namespace

Bytes round_size(Bytes requested, const Configuration& configuration) {
  assert(requested > 0);
  if (requested < kMinBlockSize) return kMinBlockSize;
  const Bytes divisions = divisions_for(requested, configuration);
  // So many divisions that their steps are below 512 bytes do not count, and may be more than can be multiplied.
  if (divisions > 1 && (requested - 1) / kMinBlockSize >= divisions) {
    const Bytes below = Bytes{1} << floor_log2(requested);
    return round_up(requested, below / divisions);  // a power of two is a multiple of its own steps
  }
  return round_up(requested, kMinBlockSize);
}

Bytes segment_size(Bytes rounded, const Configuration& configuration) {
  if (is_small(rounded)) return kSmallSegmentSize;
  if (rounded < kMinLargeAllocation) return configuration.large_segment_size;
  return round_up(rounded, kRoundLargeSegment);
}

}  // namespace interlace::allocator
