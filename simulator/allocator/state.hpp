#pragma once

#include <vector>

#include "simulator/allocator/types.hpp"
#include "simulator/base/error.hpp"

namespace interlace::allocator {

inline constexpr ErrorCode kBadState{"allocator.bad_state"};

enum class BlockStatus : std::uint8_t {
  kInactive,     ///< free
  kAllocated,    ///< in use
  kPendingFree,  ///< freed, waits until the streams that used it are done
};

/// A block as memory snapshots list it.
struct BlockRecord {
  Address address = 0;
  Bytes size = 0;
  Bytes requested = 0;  ///< what was asked for; without meaning for inactive blocks
  BlockStatus status = BlockStatus::kInactive;

  bool operator==(const BlockRecord&) const = default;
};

/// A segment as memory snapshots list it; of an expandable one, a range of it that has memory and no gap.
struct SegmentRecord {
  Address address = 0;
  Bytes size = 0;
  Stream stream = 0;
  bool small = false;  ///< of the small pool
  PoolId pool;
  bool expandable = false;
  std::vector<BlockRecord> blocks;  ///< by address, without gaps

  bool operator==(const SegmentRecord&) const = default;
};

/// All that a device's allocator holds at a moment.
struct AllocatorState {
  std::vector<SegmentRecord> segments;  ///< by address

  bool operator==(const AllocatorState&) const = default;
};

/// Throws Error(allocator.bad_state) unless segments are sorted and apart, and the blocks of each fill it without gaps.
/// `source` names the state's origin in the message.
void check_state(const AllocatorState& state, std::string_view source);

}  // namespace interlace::allocator
