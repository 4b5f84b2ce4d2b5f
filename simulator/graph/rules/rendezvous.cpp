#include <algorithm>

#include "simulator/graph/rules/collective_match.hpp"
#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

// A collective cannot end on any rank before it has started on every rank.
void add_rendezvous(const trace::Trace& trace, const StreamQueues& queues, const ProcessGroups& groups, EdgeList& edges,
                    Diagnostics& diagnostics) {
  for (const MatchedCollective& match : match_collectives(trace, queues, groups, diagnostics)) {
    Nanoseconds last_start = 0;
    for (const trace::OperationId part : match.parts) last_start = std::max(last_start, trace.start(part));
    const VertexId meeting = edges.add_meeting(last_start);
    for (const trace::OperationId part : match.parts) {
      edges.add(Graph::start_of(part), meeting, EdgeKind::kRendezvous, 0);
      edges.add(meeting, Graph::end_of(part), EdgeKind::kRendezvous, kClockTolerance);
    }
  }
}

}  // namespace interlace::graph
