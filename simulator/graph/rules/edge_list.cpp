#include "simulator/graph/rules/edge_list.hpp"

namespace interlace::graph {

Nanoseconds EdgeList::time_of(VertexId vertex) const {
  const std::size_t points = 2 * trace_.size();
  if (vertex >= points) return meeting_times_[vertex - points];
  const trace::OperationId op{vertex / 2};
  return Graph::is_end(vertex) ? trace_.end(op) : trace_.start(op);
}

void EdgeList::add(VertexId from, VertexId to, EdgeKind kind, Nanoseconds tolerance) {
  if (time_of(to) < time_of(from) - tolerance) {
    diagnostics_.count(kEdgeAgainstTime, to_string(kind));
    return;
  }
  edges_.push_back({from, to, kind});
}

VertexId EdgeList::add_meeting(Nanoseconds time) {
  meeting_times_.push_back(time);
  return static_cast<VertexId>(2 * trace_.size() + meeting_times_.size() - 1);
}

}  // namespace interlace::graph
