#pragma once

#include <cstdint>
#include <vector>

#include "simulator/graph/stream_queues.hpp"
#include "simulator/trace_check/races.hpp"

namespace interlace::trace_check {

/// What became of the memory that stages left for others.
struct Reuse {
  std::vector<Race> races;    ///< uses of freed memory that the next owner of the memory did not wait for
  std::int64_t checked = 0;   ///< blocks that were used again
  std::int64_t recorded = 0;  ///< of these, those whose free waited for streams (record_stream): safe
  bool has_events = false;    ///< the recording tells when frees were requested and when completed
};

/// Follows the caching allocator of one rank. A block that a stage makes and that outlives it holds the stage's
/// results: those stages use it that read them, before it is given back. Its next owner is the first work, on the
/// stream whose pool it is from or of a collective, of the stage that is handed it. Collectives keep what they use, and
/// so does record_stream on the stream that uses it. Blocks that live within one stage are not looked at.
[[nodiscard]] Reuse find_reuse(const trace::Trace& trace, const StagedWork& staged, const Accesses& accesses,
                               const graph::StreamQueues& queues, const RecordedOrder& order, trace::RankId rank);

}  // namespace interlace::trace_check
