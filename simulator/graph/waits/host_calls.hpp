#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/graph/range_nesting.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::graph {

enum class CallRole : std::uint8_t { kLaunch, kRecord, kWait, kSync };

/// A host call that launches device work or orders it. All other calls (queries, attributes, capture checks) are left
/// out: they may stand anywhere between a record and its wait.
struct HostCall {
  trace::OperationId op;
  trace::LaneId thread;
  trace::RankId rank;
  CallRole role = CallRole::kLaunch;
  bool collective = false;  ///< launches a communication kernel
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::optional<trace::OperationId> range;  ///< innermost range around it
  SiteId site;
  std::optional<trace::LaneId> stream;    ///< launch: of its first work; else as recorded
  std::optional<std::int64_t> event;      ///< record, wait: as recorded
  std::optional<std::uint32_t> previous;  ///< the call before it on its thread: an index of host_calls()
  std::optional<std::uint32_t> next;
  std::optional<std::uint32_t> previous_launch;  ///< on its thread, collectives left out
  std::optional<std::uint32_t> next_launch;
};

/// The launching and ordering calls of all ranks by start, linked along their threads. O(n).
[[nodiscard]] std::vector<HostCall> host_calls(const trace::Trace& trace, const RangeNesting& nesting,
                                               SiteTable& sites);

}  // namespace interlace::graph
