#include "simulator/allocator/state.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace interlace::allocator {

namespace {

[[noreturn]] void refuse(std::string_view source, const std::string& problem) {
  throw Error(kBadState, std::string(source), problem, "record the memory snapshot again");
}

void check_blocks(const SegmentRecord& segment, std::string_view source) {
  Address next = segment.address;
  for (const BlockRecord& block : segment.blocks) {
    if (block.address != next || block.size <= 0) {
      refuse(source, fmt::format("segment {:#x}: block {:#x} of {} bytes does not follow the one before it",
                                 segment.address, block.address, block.size));
    }
    next += static_cast<Address>(block.size);
  }
  if (next != segment.address + static_cast<Address>(segment.size)) {
    refuse(source, fmt::format("segment {:#x}: its blocks end at {:#x}, not at its end", segment.address, next));
  }
}

}  // namespace

void check_state(const AllocatorState& state, std::string_view source) {
  Address end = 0;
  for (const SegmentRecord& segment : state.segments) {
    if (segment.size <= 0 || segment.size > (Bytes{1} << 46)) {
      refuse(source, fmt::format("segment {:#x} is {} bytes", segment.address, segment.size));
    }
    if (segment.address < end) refuse(source, fmt::format("segment {:#x} overlaps the one before it", segment.address));
    end = segment.address + static_cast<Address>(segment.size);
    check_blocks(segment, source);
  }
}

}  // namespace interlace::allocator
