#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/trace/trace.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::trace {

/// Correlations that say what a Trace keeps as links, an operation each: the host calls of a rank that launched
/// something, and those whose work is lost, are numbered 1, 2, 3 ... by start, and device work has the number of its
/// call. None for all else. (By its number alone a launch is known to lack its work when the trace is built again.)
[[nodiscard]] std::vector<std::optional<std::int64_t>> launch_correlations(const Trace& trace);

/// Adds all that the trace holds to a builder, at the times of the recording's clock. ranks: for each rank of the
/// trace, the rank of the builder that it becomes; the builder has no operations of those yet. Lanes and texts come in
/// the order of the trace, so that appending a whole trace to an empty builder builds an equal one.
///
/// left_out: operations that are not added, ascending. No other operation may refer to them. shifts: what to add to the
/// times of each rank of the trace; none where empty.
void append_trace(const Trace& trace, std::span<const RankId> ranks, TraceBuilder& builder,
                  std::span<const OperationId> left_out = {}, std::span<const Nanoseconds> shifts = {});

}  // namespace interlace::trace
