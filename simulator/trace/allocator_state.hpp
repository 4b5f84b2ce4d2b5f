#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/units.hpp"
#include "simulator/trace/operation.hpp"

namespace interlace::trace {

enum class BlockState : std::uint8_t {
  kAllocated,
  kPendingFree,  ///< freed, but not to be used again before work on other streams is done (record_stream)
  kFree,
};
[[nodiscard]] std::string_view to_string(BlockState state);

/// A span of a segment that is in use, or free to be.
struct AllocatorBlock {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  Bytes requested = 0;  ///< what was asked for when the block was last handed out
  BlockState state = BlockState::kAllocated;

  bool operator==(const AllocatorBlock&) const = default;
};

/// Memory that the allocator holds from the driver, for one stream.
struct AllocatorSegment {
  std::uint64_t address = 0;
  Bytes bytes = 0;
  std::uint64_t stream_handle = 0;
  bool is_large = false;  ///< of the pool for requests above 1 MiB
  bool is_expandable = false;
  std::array<std::uint64_t, 2> pool{};  ///< 0, 0: the common one; else a private pool, as of a CUDA graph
  std::vector<AllocatorBlock> blocks;   ///< by address; together they are the segment

  bool operator==(const AllocatorSegment&) const = default;
};

/// What the caching allocator of a rank held for one device at one moment.
struct AllocatorState {
  RankId rank;
  std::int64_t device = 0;  ///< CUDA's ordinal
  /// Allocator events of the rank up to this moment, it included, have happened and later ones have not. None: after
  /// all of them.
  std::optional<Nanoseconds> time;
  std::string settings;                    ///< as of PYTORCH_CUDA_ALLOC_CONF; empty: PyTorch's defaults
  std::vector<AllocatorSegment> segments;  ///< by address

  bool operator==(const AllocatorState&) const = default;
};

}  // namespace interlace::trace
