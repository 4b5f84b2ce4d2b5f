#pragma once

#include <cstdint>
#include <optional>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest::memory_snapshot {

/// For the ranks of snapshots.
inline constexpr const char* kProducer = "PyTorch memory snapshot";

/// From the first to the last event of the snapshot's busiest device; none without history.
[[nodiscard]] std::optional<Interval> window_of(const Snapshot& snapshot);

/// Adds a snapshot to the trace as a recording by itself: rank `number`, with the history of its busiest device, the
/// annotations that the program made meanwhile and the allocator's state at the end. All is on one lane, since threads
/// are not recorded; annotations that do not nest there are left out and counted.
void add_rank(const Snapshot& snapshot, std::int32_t number, trace::TraceBuilder& builder, Diagnostics& diagnostics);

}  // namespace interlace::ingest::memory_snapshot
