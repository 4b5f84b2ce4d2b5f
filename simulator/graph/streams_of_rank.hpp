#pragma once

#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// The streams of a rank by their numbers, which CUDA gives as they are made: programs of all ranks make theirs in one
/// order, so that the k-th that does something is the same one everywhere. The order of lanes is that of a file.
[[nodiscard]] std::vector<trace::LaneId> streams_of_rank(const trace::Trace& trace, trace::RankId rank);

}  // namespace interlace::graph
