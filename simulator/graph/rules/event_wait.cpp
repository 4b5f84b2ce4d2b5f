#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

void add_event_waits(const StreamQueues& queues, std::span<const ResolvedWait> waits, EdgeList& edges) {
  for (const ResolvedWait& wait : waits) {
    if (!wait.producer || !wait.consumer) continue;
    edges.add(Graph::end_of(*wait.producer), Graph::start_of(*wait.consumer), EdgeKind::kEventWait, kStampTolerance);
    if (wait.kind != Producer::kQueuedWork) continue;
    const trace::OperationId latest = queues.last_to_end(*wait.producer);
    if (latest == *wait.producer) continue;
    edges.add(Graph::end_of(latest), Graph::start_of(*wait.consumer), EdgeKind::kEventWait, kStampTolerance);
  }
}

}  // namespace interlace::graph
