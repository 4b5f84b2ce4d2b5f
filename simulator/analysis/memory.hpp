#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// What the allocator held for one stream.
struct StreamMemory {
  std::uint64_t handle = 0;
  std::optional<trace::LaneId> stream;  ///< where it is known which stream the handle is
  std::int64_t segments = 0;
  Bytes reserved = 0;
  Bytes allocated = 0;
  Bytes pending = 0;  ///< freed, but not to be used again yet

  bool operator==(const StreamMemory&) const = default;
};

/// The memory of one rank's device as recorded.
struct MemoryUse {
  trace::RankId rank;
  std::int64_t events = 0;  ///< of the allocator
  std::int64_t joined = 0;  ///< of these, told by the profiler and by the allocator's own history
  /// Peaks from the first event on. None where the recording does not tell.
  std::optional<Bytes> allocated_peak;
  std::optional<Bytes> active_peak;    ///< allocated and pending; only from the allocator's own history
  std::optional<Bytes> reserved_peak;  ///< held from the driver
  std::vector<StreamMemory> streams;   ///< when the allocator's last state was recorded, by handle
  std::string settings;                ///< of the allocator; empty: PyTorch's defaults

  bool operator==(const MemoryUse&) const = default;
};

/// One entry for each rank that recorded allocations on a device or a state of its allocator, in the order of ranks.
///
/// Where there is a state, the peaks come from undoing the events before it, the last first; where block sizes were not
/// recorded (AllocationDetail::knows_block), allocated and active bytes may be low by the rounding. Else they are the
/// highest totals that the profiler told.
[[nodiscard]] std::vector<MemoryUse> memory_use(const trace::Trace& trace);

}  // namespace interlace::analysis
