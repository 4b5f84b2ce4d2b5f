#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// A block that was handed out or given back in the trace.
struct BlockLife {
  std::optional<Nanoseconds> begin;  ///< none: it was there before the first event
  std::optional<Nanoseconds> end;    ///< when it was given back; none: not in the trace
  Bytes bytes = 0;
  std::uint64_t address = 0;
  std::optional<std::uint32_t> pool;          ///< in MemoryCurve::pools, where the stream is known
  std::optional<trace::OperationId> made_by;  ///< the event that handed it out

  [[nodiscard]] bool alive_at(Nanoseconds t) const { return (!begin || *begin <= t) && (!end || t < *end); }
};

/// What blocks of one stream hold.
struct PoolCurve {
  std::optional<trace::LaneId> stream;
  std::uint64_t handle = 0;      ///< where the stream's lane is not known
  std::vector<Bytes> allocated;  ///< a value a moment; of blocks that come or go in the trace
};

/// What the allocator of one rank's device held over time: step functions whose value at `at[i]` holds up to
/// `at[i + 1]`.
struct MemoryCurve {
  trace::RankId rank;
  std::vector<Nanoseconds> at;   ///< moments of events, each once, ascending
  std::vector<Bytes> allocated;  ///< a value a moment, as are those below; empty where nothing but segments is recorded
  std::vector<Bytes> active;     ///< allocated, and given back but still in use on other streams; may be unknown
  std::vector<Bytes> reserved;   ///< held from the driver; may be unknown
  Bytes persistent = 0;          ///< of `allocated`: blocks that neither come nor go in the trace
  std::vector<PoolCurve> pools;  ///< by lane, then handle
  std::vector<BlockLife> blocks;  ///< by the order of their events

  /// The moment whose values hold at t; none before the first.
  [[nodiscard]] std::optional<std::size_t> moment_at(Nanoseconds t) const;
  /// Positions in `blocks` of those allocated at t, largest first.
  [[nodiscard]] std::vector<std::size_t> alive_at(Nanoseconds t) const;
};

/// One curve for each rank that recorded what is allocated or reserved on a device, in the order of ranks.
///
/// Where the trace has a state of the rank's allocator, the levels before the first event come from undoing the events
/// from there, as in memory_use. Else from the totals that events tell; what was pending before the first event is what
/// completes without having been asked for. Without either, levels count from 0 before the first event.
[[nodiscard]] std::vector<MemoryCurve> memory_curves(const trace::Trace& trace);

}  // namespace interlace::analysis
