#include "simulator/graph/graph.hpp"

#include <algorithm>
#include <utility>

#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

std::string_view to_string(EdgeKind kind) {
  static constexpr std::array<std::string_view, kEdgeKinds> kNames{"duration",      "program_order", "launch",
                                                                   "stream_order",  "event_wait",    "host_sync",
                                                                   "blocking_copy", "rendezvous",    "thread_handoff"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

/// Compressed rows of the edges by source, or turned around by target. Counting sort: O(edges + vertices).
Graph::Adjacency compress(const std::vector<Edge>& edges, std::size_t vertices, bool turned) {
  std::vector<std::uint32_t> next(vertices + 1, 0);
  for (const Edge& edge : edges) ++next[(turned ? edge.to : edge.from) + 1];
  for (std::size_t v = 0; v < vertices; ++v) next[v + 1] += next[v];
  std::vector<std::pair<VertexId, VertexId>> pairs(edges.size());
  std::vector<Graph::EdgeProperty> properties(edges.size());
  for (const Edge& edge : edges) {
    const VertexId source = turned ? edge.to : edge.from;
    const std::uint32_t place = next[source]++;
    pairs[place] = {source, turned ? edge.from : edge.to};
    properties[place] = {edge.kind};
  }
  return {boost::edges_are_sorted,
          pairs.begin(),
          pairs.end(),
          properties.begin(),
          static_cast<VertexId>(vertices),
          static_cast<std::uint32_t>(edges.size())};
}

}  // namespace

Graph::Graph(const trace::Trace& trace, Diagnostics& diagnostics)
    : Graph(trace, ProcessGroups(trace, diagnostics), diagnostics) {}

Graph::Graph(const trace::Trace& trace, const ProcessGroups& groups, Diagnostics& diagnostics)
    : trace_(&trace), waits_(infer_waits(trace, diagnostics)) {
  EdgeList list(trace, diagnostics);
  const StreamQueues queues(trace);
  add_durations(trace, list);
  add_program_order(trace, list);
  add_launches(trace, list);
  add_stream_order(trace, queues, list, diagnostics);
  add_event_waits(queues, waits_, list);
  add_host_syncs(trace, queues, list, diagnostics);
  add_blocking_copies(trace, list);
  add_rendezvous(trace, queues, groups, list, diagnostics);
  add_thread_handoffs(trace, list, diagnostics);

  meeting_times_ = std::move(list.meeting_times());
  const std::size_t vertices = 2 * trace.size() + meeting_times_.size();
  for (const Edge& edge : list.edges()) ++edges_of_kind_[static_cast<std::size_t>(edge.kind)];
  successors_ = compress(list.edges(), vertices, false);
  predecessors_ = compress(list.edges(), vertices, true);
}

std::optional<trace::OperationId> Graph::operation_of(VertexId vertex) const {
  if (vertex >= 2 * trace_->size()) return std::nullopt;
  return trace::OperationId{vertex / 2};
}

Nanoseconds Graph::time_of(VertexId vertex) const {
  const auto op = operation_of(vertex);
  if (!op) return meeting_times_[vertex - 2 * trace_->size()];
  return is_end(vertex) ? trace_->end(*op) : trace_->start(*op);
}

}  // namespace interlace::graph
