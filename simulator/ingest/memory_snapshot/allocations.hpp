#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::ingest::memory_snapshot {

/// Of all allocator events; the profiler's word for its own.
inline constexpr std::string_view kOperationName = "[memory]";

/// An event as an operation of a trace tells it, without what only the profiler knows. block_bytes: of its block, where
/// known.
[[nodiscard]] trace::AllocationDetail detail_of(const Event& event, std::optional<Bytes> block_bytes);

/// The lane of events of which no thread is known.
[[nodiscard]] trace::LaneId unknown_thread(trace::TraceBuilder& builder, trace::RankId rank);

}  // namespace interlace::ingest::memory_snapshot
