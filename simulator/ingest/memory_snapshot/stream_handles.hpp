#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::ingest::memory_snapshot {

/// An allocation as the profiler reported it, and the stream that the snapshot says it is for.
struct HandledAllocation {
  trace::OperationId report;
  std::uint64_t handle = 0;
};

/// What speaks for which stream of the trace a handle is.
struct HandleVotes {
  std::uint64_t handle = 0;
  std::map<trace::LaneId, std::int64_t> votes;
  std::optional<trace::LaneId> stream;  ///< none: undecided
};

/// The allocator knows streams by their handle, the profiler by small numbers, and nothing recorded joins the two. But
/// PyTorch allocates for the stream in use, and what is launched close by is mostly launched on that stream. So each
/// allocation votes: of the ranges of its thread that it lies in, the innermost within which anything was launched
/// counts, and where all that was launched in it went to one stream, that has the vote. Collectives do not count: they
/// run on streams of their own, whatever stream is in use.
///
/// A handle is the stream that has at least two votes and more than three quarters of all that the handle has. Two
/// handles are never one stream: the one with fewer votes remains undecided. A stream whose handle is recorded is
/// known, and no other handle can be it.
///
/// handles: all that are asked for. One entry each, ascending.
[[nodiscard]] std::vector<HandleVotes> infer_stream_handles(const trace::Trace& trace, trace::RankId rank,
                                                            std::span<const HandledAllocation> allocations,
                                                            std::span<const std::uint64_t> handles);

}  // namespace interlace::ingest::memory_snapshot
