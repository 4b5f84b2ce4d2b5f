#pragma once

#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/graph/stream_queues.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// One collective as its ranks ran it: a kernel of each, in the order of ranks; at least two.
struct MatchedCollective {
  std::vector<trace::OperationId> parts;
};

/// Joins the collectives of the ranks of each process group (process_groups.hpp). The ranks of a group issue its
/// collectives in one order, so the k-th of one rank belongs to the k-th of the others, up to a shift where the
/// recordings do not begin with the same one. The shift of a rank is the one under which most of its collectives are of
/// one function with, and overlap in time, those of the group's first rank; where they have recorded sequence numbers,
/// these are used instead. Groups that nothing tells apart are left out. Counts the collectives
/// of groups of several recorded ranks that found no partner (graph.collective_unmatched); a rank recorded alone has
/// none to find, which is not counted. O(n).
[[nodiscard]] std::vector<MatchedCollective> match_collectives(const trace::Trace& trace, const StreamQueues& queues,
                                                               const ProcessGroups& groups, Diagnostics& diagnostics);

}  // namespace interlace::graph
