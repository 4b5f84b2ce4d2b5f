#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/allocator/trace_entry.hpp"
#include "simulator/allocator/usage.hpp"
#include "simulator/memory/lifetimes.hpp"
#include "simulator/memory/recorded_memory.hpp"
#include "simulator/memory/stream_drains.hpp"

namespace interlace::memory {

/// A device call of a simulated host: what the blocks made and given back around it go by.
struct PlayedCall {
  stages::SegmentKey segment;
  std::int32_t iteration = 0;
  std::int32_t batch = 0;
  std::uint32_t stream = 0;  ///< the stream that its segment runs on
  Nanoseconds start = 0;     ///< not before the start of the call before it
  Nanoseconds end = 0;
  std::optional<StepRun> run = {};  ///< that its segment is part of, where that is known
  bool multiplies = false;          ///< launches a matrix multiplication
  bool communicates = false;        ///< launches a collective
};

/// Something that the allocator did, and what it held then.
struct MemoryEvent {
  allocator::TraceEntry entry;
  Bytes block = 0;      ///< of an alloc: of the block that it took
  Bytes allocated = 0;  ///< after it
  Bytes active = 0;
  Bytes reserved = 0;
};

/// The blocks of one stage and batch that were allocated at the peak.
struct Culprit {
  stages::SegmentKey made_in;
  std::int32_t batch = 0;  ///< less the iteration in which the peak lay
  Bytes bytes = 0;
};

/// An allocation that failed for want of memory.
struct FailedAllocation {
  std::optional<stages::SegmentKey> in;  ///< none: what stays: parameters, buckets, workspaces
  std::int32_t iteration = 0;            ///< negative while the pipeline fills
  std::int32_t batch = 0;                ///< less the iteration
  Bytes bytes = 0;
};

struct MemoryCourse {
  Bytes allocated_peak = 0;
  Bytes active_peak = 0;
  Bytes reserved_peak = 0;
  Bytes persistent = 0;             ///< allocated all along: parameters, optimizer state, buckets, workspaces
  std::vector<Culprit> culprits;    ///< at the peak of allocated bytes, largest first; beside what is persistent
  std::vector<MemoryEvent> events;  ///< from the first counted iteration on
  std::vector<allocator::ArenaUsage> usage;       ///< at the end
  Bytes inactive_split = 0;                       ///< at the end: free, in segments that are partly in use
  std::optional<FailedAllocation> first_failure;  ///< with a capacity only
  std::int64_t retries = 0;  ///< allocations that had to wait for the device and empty the cache first, from the start
  std::int32_t iterations = 0;  ///< that were played, behind those that fill the pipeline
};

struct MemoryReplayOptions {
  std::int32_t first_counted = 3;  ///< peaks of allocated and active bytes are those from this iteration on
  /// The recorded batch that the run begins with.
  std::int32_t first_batch = 0;
  /// How long PyTorch takes to see that the first gradients have been reduced: from then on, and with the next
  /// collective, it lets go of the bucket in which they were.
  Nanoseconds reduction_seen_after = 0;
  /// What the driver can give; none: as much as is asked for, whatever part of it the recorded settings allow.
  std::optional<Bytes> capacity;
  std::uint32_t main_stream = 0;  ///< on which what is always there was made
};

/// Plays the blocks of a recording back in the order of a simulated host, through a new allocator: first what is always
/// there, then what each call's segment makes and lets go. Peaks of reserved bytes count from the start, since nothing
/// is ever given back to the driver but for want of memory.
[[nodiscard]] MemoryCourse replay_memory(const RecordedMemory& memory, const Lifetimes& lifetimes,
                                         std::span<const PlayedCall> calls, const StreamDrains& drains,
                                         const MemoryReplayOptions& options);

}  // namespace interlace::memory
