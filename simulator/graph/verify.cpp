#include "simulator/graph/verify.hpp"

#include <algorithm>
#include <boost/graph/topological_sort.hpp>
#include <iterator>

#include "simulator/graph/rules/edge_list.hpp"
#include "simulator/graph/stream_queues.hpp"

namespace interlace::graph {

namespace {

bool is_acyclic(const Graph& graph) {
  std::vector<VertexId> order;
  order.reserve(graph.vertices());
  try {
    boost::topological_sort(graph.successors(), std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return false;
  }
  return true;
}

std::size_t streams_out_of_order(const Graph& graph) {
  const trace::Trace& trace = graph.trace();
  const StreamQueues queues(trace);
  std::size_t found = 0;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    const auto queue = queues.queue({l});
    for (std::size_t i = 1; i < queue.size(); ++i) {
      bool ordered = false;
      graph.for_each_predecessor(Graph::start_of(queue[i]), [&](VertexId from, EdgeKind kind) {
        ordered = ordered || (kind == EdgeKind::kStreamOrder && graph.operation_of(from) == queue[i - 1]);
      });
      found += ordered ? 0 : 1;
    }
  }
  return found;
}

}  // namespace

bool Verification::sound() const { return acyclic && streams_out_of_order == 0 && furthest_back <= kClockTolerance; }

Verification verify(const Graph& graph) {
  Verification result;
  result.acyclic = is_acyclic(graph);
  result.streams_out_of_order = streams_out_of_order(graph);
  const trace::Trace& trace = graph.trace();
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    if (!is_device_work(trace.kind({i}))) continue;
    ++result.device_work;
    if (!trace.launch_of({i})) ++result.without_launch;
  }
  std::vector<std::pair<Nanoseconds, Edge>> back;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    graph.for_each_predecessor(v, [&](VertexId from, EdgeKind kind) {
      const Nanoseconds by = graph.time_of(from) - graph.time_of(v);
      if (by > 0) back.emplace_back(by, Edge{from, v, kind});
    });
  }
  static constexpr std::size_t kWorst = 10;
  result.edges_back_in_time = back.size();
  const auto middle = back.begin() + static_cast<std::ptrdiff_t>(std::min(kWorst, back.size()));
  std::partial_sort(back.begin(), middle, back.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto worst = back.begin(); worst != middle; ++worst) result.worst.push_back(worst->second);
  if (!back.empty()) result.furthest_back = back.front().first;
  return result;
}

}  // namespace interlace::graph
