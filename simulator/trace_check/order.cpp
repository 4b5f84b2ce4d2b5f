#include "simulator/trace_check/order.hpp"

#include <algorithm>
#include <boost/graph/topological_sort.hpp>
#include <iterator>

namespace interlace::trace_check {

using graph::Graph;
using graph::VertexId;
using trace::OperationId;

std::vector<VertexId> along_time(const Graph& graph) {
  std::vector<VertexId> order;
  order.reserve(graph.vertices());
  // Boost writes targets first; of the turned graph these are the sources.
  boost::topological_sort(graph.predecessors(), std::back_inserter(order));
  return order;
}

RecordedOrder::RecordedOrder(const Graph& graph, const graph::StreamQueues& queues,
                             std::span<const VertexId> along_time, trace::RankId rank, OrderedBy counts)
    : trace_(&graph.trace()) {
  const trace::Trace& trace = *trace_;
  stream_of_.assign(trace.lanes().size(), 0);
  place_.assign(trace.size(), 0);
  row_.assign(trace.size(), 0);
  std::uint32_t rows = 0;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    if (trace.lane({l}).rank != rank || queues.queue({l}).empty()) continue;
    stream_of_[l] = static_cast<std::uint32_t>(streams_.size());
    streams_.push_back({l});
    std::uint32_t place = 0;
    for (const OperationId op : queues.queue({l})) {
      place_[op.index()] = ++place;
      row_[op.index()] = rows++;
    }
  }
  clocks_.resize(std::size_t{rows} * streams_.size());
  std::vector<std::uint32_t> clock_of(graph.vertices() * streams_.size());
  for (const VertexId vertex : along_time) {
    const auto clock = std::span(clock_of).subspan(vertex * streams_.size(), streams_.size());
    graph.for_each_predecessor(vertex, [&](VertexId from, graph::EdgeKind kind) {
      const bool by_host = kind == graph::EdgeKind::kHostSync || kind == graph::EdgeKind::kBlockingCopy;
      if (by_host && !counts.host_waits) return;
      const auto other = std::span(clock_of).subspan(from * streams_.size(), streams_.size());
      for (std::size_t s = 0; s < streams_.size(); ++s) clock[s] = std::max(clock[s], other[s]);
    });
    const auto op = graph.operation_of(vertex);
    if (!op || place_[op->index()] == 0) continue;
    if (Graph::is_end(vertex)) {
      auto& own = clock[stream_of_[trace.lane_of(*op).index()]];
      own = std::max(own, place_[op->index()]);
    } else {
      if (counts.doubts != nullptr) join_doubts(*op, queues, counts, clock);
      std::ranges::copy(clock, clocks_.begin() + static_cast<std::ptrdiff_t>(row_[op->index()] * streams_.size()));
    }
  }
}

void RecordedOrder::join_doubts(OperationId work, const graph::StreamQueues& queues, const OrderedBy& counts,
                                std::span<std::uint32_t> clock) const {
  const Nanoseconds queued_at = queues.queued_at(work);
  auto until = counts.doubts->of_stream(trace_->lane_of(work), queued_at);
  if (counts.host_waits) until = std::max(until, counts.doubts->of_host(queued_at));
  if (!until) return;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (const auto last = queues.last_before(streams_[s], *until)) clock[s] = std::max(clock[s], place_[last->index()]);
  }
}

bool RecordedOrder::before(OperationId earlier, OperationId later) const {
  const std::size_t stream = stream_of_[trace_->lane_of(earlier).index()];
  return clocks_[row_[later.index()] * streams_.size() + stream] >= place_[earlier.index()];
}

}  // namespace interlace::trace_check
