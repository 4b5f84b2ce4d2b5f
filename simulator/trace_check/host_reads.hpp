#pragma once

#include <vector>

#include "simulator/graph/graph.hpp"
#include "simulator/trace_check/order.hpp"
#include "simulator/trace_check/races.hpp"

namespace interlace::trace_check {

/// Copies to the host that validate_output makes and reads without having waited for them. A recording does not tell
/// when the host reads: it is taken to do so behind a wait that is there for the copy, and else at once. There for the
/// copy are a call that returns only when it is done, whatever the timing, and waits for work that the same run of the
/// stage queued behind the copy (or for the copy itself): with an event at any time, with a stream or the device before
/// the thread launches work of other stages. An event that is not told may be there for any copy of its stage.
[[nodiscard]] std::vector<Race> find_unfinished_host_reads(const trace::Trace& trace, const StagedWork& staged,
                                                           const graph::Graph& graph, const RecordedOrder& order,
                                                           trace::RankId rank);

}  // namespace interlace::trace_check
