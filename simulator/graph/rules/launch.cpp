#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

// From the start of the call: device work may start before the call that launched it returns.
void add_launches(const trace::Trace& trace, EdgeList& edges) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    for (const trace::OperationId work : trace.launched_by(op)) {
      edges.add(Graph::start_of(op), Graph::start_of(work), EdgeKind::kLaunch, kClockTolerance);
    }
  }
}

}  // namespace interlace::graph
