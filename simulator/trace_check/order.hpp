#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/graph/graph.hpp"
#include "simulator/graph/stream_queues.hpp"
#include "simulator/trace_check/doubts.hpp"

namespace interlace::trace_check {

/// What counts as an order, beside launches, streams, waits of streams and collectives.
struct OrderedBy {
  bool host_waits = true;
  const Doubts* doubts = nullptr;  ///< of the rank
};

/// What of one rank's device work was done before other work of it began, whatever the timing: a path of launches,
/// stream order, waits, synchronisations and collectives leads from one to the other. Recorded times do not count.
///
/// Without `host_waits`, what only a waiting host orders does not count either. With `doubts`, a wait of which nobody
/// knows what it is for counts as one for all that was queued before it: what is unordered even so is so for sure.
///
/// Each stream is a chain, so the work before an operation is told by a number a stream (a vector clock), carried along
/// the edges of the graph once. O(edges * streams of the rank) time, O(operations of the rank * streams) memory.
class RecordedOrder {
 public:
  /// `along_time`: all vertices of the graph, sources of edges before their targets.
  RecordedOrder(const graph::Graph& graph, const graph::StreamQueues& queues,
                std::span<const graph::VertexId> along_time, trace::RankId rank, OrderedBy counts = {});

  /// Both are device work of the rank.
  [[nodiscard]] bool before(trace::OperationId earlier, trace::OperationId later) const;

 private:
  /// What doubtful waits in front of the work may have waited for joins its clock.
  void join_doubts(trace::OperationId work, const graph::StreamQueues& queues, const OrderedBy& counts,
                   std::span<std::uint32_t> clock) const;

  const trace::Trace* trace_;
  std::vector<trace::LaneId> streams_;    ///< of the rank, that do something
  std::vector<std::uint32_t> stream_of_;  ///< by lane
  std::vector<std::uint32_t> place_;      ///< by operation: from 1, on its stream
  std::vector<std::uint32_t> row_;        ///< by operation: into clocks_
  std::vector<std::uint32_t> clocks_;     ///< at the start of device work of the rank, by stream
};

/// The vertices of a graph, sources of edges before their targets.
[[nodiscard]] std::vector<graph::VertexId> along_time(const graph::Graph& graph);

}  // namespace interlace::trace_check
