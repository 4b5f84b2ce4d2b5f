#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/ingest/memory_snapshot/snapshot.hpp"

namespace interlace::ingest::memory_snapshot {

/// What the profiler tells of an allocation or a free: less than the allocator, and a moment later.
struct Report {
  std::uint64_t address = 0;
  bool is_free = false;
  Nanoseconds time = 0;  ///< on the clock of the events
};

/// For each event of a snapshot the report of it; none where the profiler did not see it, or reports none of that kind
/// (a completed free, a segment). reports: in the order of their times.
///
/// An address is allocated and freed by turns, so the n-th report of its allocations is the n-th event of them, and
/// times are needed only to find where the two histories begin to run together (docs/memory_snapshots.md): reports that
/// are more than kWidestGap from an event are none of it, and where one side has more left, it may leave one out whose
/// successor is nearer.
[[nodiscard]] std::vector<std::optional<std::size_t>> match_events(std::span<const Event> events,
                                                                   std::span<const Report> reports);

/// Far more than a report is late (1 us, 0.3 ms where a thread had to wait), far less than a window of interest.
inline constexpr Nanoseconds kWidestGap = 10 * kMillisecond;

}  // namespace interlace::ingest::memory_snapshot
