#pragma once

#include <optional>
#include <span>
#include <vector>

#include "simulator/ingest/memory_snapshot/snapshot.hpp"

namespace interlace::ingest::memory_snapshot {

/// For each event the bytes of its block, where they can be known: what the profiler reported of the event itself
/// (seen), of another event of the same block, or what the segments say of blocks that live on. None for segments.
[[nodiscard]] std::vector<std::optional<Bytes>> block_bytes(std::span<const Event> events,
                                                            std::span<const std::optional<Bytes>> seen,
                                                            std::span<const trace::AllocatorSegment> segments);

/// The least bytes that a block for this request has: the allocator hands out multiples of 512.
[[nodiscard]] Bytes least_block_bytes(Bytes requested);

}  // namespace interlace::ingest::memory_snapshot
