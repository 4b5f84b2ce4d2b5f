#pragma once

#include <algorithm>
#include <vector>

#include "simulator/allocator/state.hpp"

namespace interlace::allocator {

/// A free block at an offset from the lowest free address of its pool and stream.
struct FreeAt {
  Bytes size = 0;
  Address offset = 0;
};

inline constexpr Address kRecordedBase = 0x7f0000000000;

/// A state with exactly these free blocks, each first in a segment; a block in use fills the way to the next.
inline AllocatorState arena_with(std::vector<FreeAt> free, bool small, Stream stream = 0,
                                 Address base = kRecordedBase) {
  std::ranges::sort(free, {}, &FreeAt::offset);
  AllocatorState state;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const Address begin = base + free[i].offset;
    const Address end = begin + static_cast<Address>(free[i].size);
    const Address next = i + 1 < free.size() ? base + free[i + 1].offset : end + 512;
    SegmentRecord segment{.address = begin, .size = static_cast<Bytes>(next - begin), .stream = stream, .small = small};
    segment.blocks.push_back({begin, free[i].size, 0, BlockStatus::kInactive});
    if (next > end) {
      segment.blocks.push_back(
          {end, static_cast<Bytes>(next - end), static_cast<Bytes>(next - end), BlockStatus::kAllocated});
    }
    state.segments.push_back(segment);
  }
  return state;
}

}  // namespace interlace::allocator
