#pragma once

#include <span>

#include "simulator/base/diagnostics.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest::memory_snapshot {

/// The trace, with what snapshots of its ranks tell of their allocators (docs/memory_snapshots.md):
///
/// - Allocations and frees that the profiler reported too are one operation, on the profiler's thread, with the block's
///   bytes, the bytes asked for and the stream's handle; a free is a request (kFreeRequested). Reports without an event
///   remain as they were.
/// - Events that the profiler does not report are operations too, in the allocator's order. Those before the rank's
///   recording begins are left out; those behind its end are kept, since they lead to the state.
/// - The state that each snapshot holds is the allocator's state at its last event.
/// - Lanes and allocations get the handles and streams that can be inferred (infer_stream_handles).
///
/// snapshots: one a rank. Where each is of another device and each rank worked on another, they are joined by device;
/// else they are in the order of the ranks. What is missing or unmatched is counted.
/// Throws ingest.snapshot_count, ingest.snapshot_twice, ingest.snapshot_of_other_run.
[[nodiscard]] trace::Trace attach_snapshots(const trace::Trace& trace, std::span<const Snapshot> snapshots,
                                            Diagnostics& diagnostics);

}  // namespace interlace::ingest::memory_snapshot
