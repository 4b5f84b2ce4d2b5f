#include "gui/timeline/dependencies.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "simulator/graph/graph.hpp"

namespace interlace::gui {

namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::VertexId;
using trace::OperationId;

/// None for edges that are no arrows, and for launches, which the trace itself tells.
std::optional<DependencyKind> arrow_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kEventWait: return DependencyKind::kEvent;
    case EdgeKind::kHostSync:
    case EdgeKind::kBlockingCopy: return DependencyKind::kHostWait;
    case EdgeKind::kThreadHandoff: return DependencyKind::kHandoff;
    case EdgeKind::kRendezvous: return DependencyKind::kCollectivePeer;
    case EdgeKind::kDuration:
    case EdgeKind::kProgramOrder:
    case EdgeKind::kLaunch:
    case EdgeKind::kStreamOrder: break;
  }
  return std::nullopt;
}

template <class Visit>
void for_each_successor(const Graph& graph, VertexId vertex, Visit visit) {
  const Graph::Adjacency& edges = graph.successors();
  for (auto [edge, end] = boost::out_edges(vertex, edges); edge != end; ++edge) {
    visit(boost::target(*edge, edges), edges[*edge].kind);
  }
}

}  // namespace

std::string_view to_string(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::kLaunch: return "launch";
    case DependencyKind::kEvent: return "event";
    case DependencyKind::kHostWait: return "host waits";
    case DependencyKind::kCollectivePeer: return "collective peer";
    case DependencyKind::kHandoff: return "hand-over";
    case DependencyKind::kBackward: return "backward";
  }
  return "";
}

std::vector<Dependency> recorded_links_of(const trace::Trace& trace, OperationId op) {
  std::vector<Dependency> found;
  if (trace::is_device_work(trace.kind(op))) {
    if (const auto launch = trace.launch_of(op)) found.push_back({*launch, op, DependencyKind::kLaunch});
  }
  for (const OperationId work : trace.launched_by(op)) found.push_back({op, work, DependencyKind::kLaunch});
  const trace::RangeDetail* range = trace.range(op);
  if (range != nullptr && range->forward_op) found.push_back({*range->forward_op, op, DependencyKind::kBackward});
  return found;
}

std::vector<Dependency> dependencies_of(const Graph& graph, OperationId op) {
  std::vector<Dependency> found = recorded_links_of(graph.trace(), op);
  for (const VertexId own : {Graph::start_of(op), Graph::end_of(op)}) {
    graph.for_each_predecessor(own, [&](VertexId from, EdgeKind kind) {
      const auto arrow = arrow_of(kind);
      if (!arrow) return;
      if (const auto other = graph.operation_of(from)) {
        if (*other != op) found.push_back({*other, op, *arrow});
        return;
      }
      // A meeting point: those that came to it are the peers.
      graph.for_each_predecessor(from, [&](VertexId peer, EdgeKind) {
        const auto other = graph.operation_of(peer);
        if (other && *other != op) found.push_back({*other, op, DependencyKind::kCollectivePeer});
      });
    });
    for_each_successor(graph, own, [&](VertexId to, EdgeKind kind) {
      const auto arrow = arrow_of(kind);
      const auto other = graph.operation_of(to);
      if (arrow && other && *other != op) found.push_back({op, *other, *arrow});
    });
  }
  std::ranges::sort(found, {}, [](const Dependency& d) { return std::tuple(d.kind, d.from, d.to); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace interlace::gui
