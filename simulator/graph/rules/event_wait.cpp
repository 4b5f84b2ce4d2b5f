#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

void add_event_waits(std::span<const ResolvedWait> waits, EdgeList& edges) {
  for (const ResolvedWait& wait : waits) {
    if (!wait.producer || !wait.consumer) continue;
    edges.add(Graph::end_of(*wait.producer), Graph::start_of(*wait.consumer), EdgeKind::kEventWait, kStampTolerance);
  }
}

}  // namespace interlace::graph
