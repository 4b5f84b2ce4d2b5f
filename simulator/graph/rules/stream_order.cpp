#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

void add_stream_order(const trace::Trace& trace, const StreamQueues& queues, EdgeList& edges,
                      Diagnostics& diagnostics) {
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    const auto queue = queues.queue({l});
    for (std::size_t i = 1; i < queue.size(); ++i) {
      const trace::OperationId before = queue[i - 1];
      const trace::OperationId after = queue[i];
      if (trace.start(after) < trace.end(before) - kStampTolerance && trace.start(after) >= trace.start(before)) {
        diagnostics.count(kOverlapOnStream, trace.name(after));
        edges.add(Graph::start_of(before), Graph::start_of(after), EdgeKind::kStreamOrder, kStampTolerance);
      } else {
        edges.add(Graph::end_of(before), Graph::start_of(after), EdgeKind::kStreamOrder, kStampTolerance);
      }
      const trace::OperationId latest = queues.last_to_end(before);
      if (latest != before && trace.start(after) >= trace.end(latest) - kStampTolerance) {
        edges.add(Graph::end_of(latest), Graph::start_of(after), EdgeKind::kStreamOrder, kStampTolerance);
      }
    }
  }
}

}  // namespace interlace::graph
