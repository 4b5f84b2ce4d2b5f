#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

void add_durations(const trace::Trace& trace, EdgeList& edges) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    if (trace.kind(op) > trace::OperationKind::kHostSync) continue;
    edges.add(Graph::start_of(op), Graph::end_of(op), EdgeKind::kDuration, 0);
  }
}

}  // namespace interlace::graph
