#pragma once

#include <vector>

#include "simulator/graph/stream_queues.hpp"
#include "simulator/trace_check/races.hpp"

namespace interlace::trace_check {

/// Copies to the host that validate_output makes and reads without having waited for them. A recording does not tell
/// when the host reads: it is taken to do so behind a wait that is there for the copy, and else at once. There for the
/// copy are a call that returns only when it is done, a synchronisation before the host launches anything else, and, at
/// any time, one with an event that was recorded right behind it.
[[nodiscard]] std::vector<Race> find_unfinished_host_reads(const trace::Trace& trace, const StagedWork& staged,
                                                           const graph::StreamQueues& queues, trace::RankId rank);

}  // namespace interlace::trace_check
