#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

using trace::OperationId;
using trace::OperationKind;

// A thread does one thing after another. A driver call within a runtime call starts after it; the call after both
// comes after the later end.
void add_program_order(const trace::Trace& trace, EdgeList& edges) {
  std::vector<OperationId> open;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    if (trace.lane({l}).kind != trace::LaneKind::kHostThread) continue;
    open.clear();
    std::optional<OperationId> done;  // the call that ended last
    for (const OperationId op : trace.on_lane({l})) {
      if (trace.kind(op) < OperationKind::kHostCall || trace.kind(op) > OperationKind::kHostSync) continue;
      while (!open.empty() && trace.end(open.back()) <= trace.start(op)) {
        if (!done || trace.end(open.back()) >= trace.end(*done)) done = open.back();
        open.pop_back();
      }
      if (!open.empty()) {
        edges.add(Graph::start_of(open.back()), Graph::start_of(op), EdgeKind::kProgramOrder, 0);
      }
      // An earlier call within the same outer one also comes first.
      if (done && (open.empty() || trace.start(*done) >= trace.start(open.back()))) {
        edges.add(Graph::end_of(*done), Graph::start_of(op), EdgeKind::kProgramOrder, 0);
      }
      open.push_back(op);
    }
  }
}

}  // namespace interlace::graph
