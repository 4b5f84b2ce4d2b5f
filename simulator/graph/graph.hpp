#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/graph/waits.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// Why one point in time may not come before another. docs/dependency_graph.md gives the reason for each.
enum class EdgeKind : std::uint8_t {
  kDuration,       ///< start of an operation -> its end
  kProgramOrder,   ///< end of a host call -> start of the next on its thread (of a nested call: start -> start)
  kLaunch,         ///< start of a host call -> start of the device work it launched
  kStreamOrder,    ///< end of device work -> start of the next on its stream
  kEventWait,      ///< end of device work -> start of work of another stream that waits for it
  kHostSync,       ///< end of device work -> end of the host call that waits for it
  kBlockingCopy,   ///< end of a copy -> end of the host call that launched it and returns only then
  kRendezvous,     ///< start of a collective on one rank -> its meeting point -> its end on every rank
  kThreadHandoff,  ///< end of a host call -> start of a call of a thread that was waiting for it
};
inline constexpr std::size_t kEdgeKinds = 9;
[[nodiscard]] std::string_view to_string(EdgeKind kind);

using VertexId = std::uint32_t;

struct Edge {
  VertexId from = 0;
  VertexId to = 0;
  EdgeKind kind = EdgeKind::kDuration;

  bool operator==(const Edge&) const = default;
};

/// What had to happen before what in a trace.
///
/// The vertices are points in time, so that every edge says the same: its target may not come before its source. Each
/// operation i has two, its start 2i and its end 2i+1; behind them come the meeting points of collectives. With only
/// one vertex an operation, a blocking copy would have to come before the call that launched it, and two ranks of a
/// collective each before the other; with two the graph has no cycles. Host calls and device work have edges; ranges,
/// device ranges and allocations have none.
///
/// An edge that the recorded times contradict by more than the clocks can explain is left out and counted. Building is
/// O(n log n). The trace must outlive the graph.
class Graph {
 public:
  struct EdgeProperty {
    EdgeKind kind = EdgeKind::kDuration;
  };
  using Adjacency = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeProperty,
                                                       boost::no_property, VertexId, std::uint32_t>;

  /// Applies all rules of graph/rules and counts under graph.* what they could not decide.
  Graph(const trace::Trace& trace, Diagnostics& diagnostics);
  /// The same where the process groups of the trace are known already.
  Graph(const trace::Trace& trace, const ProcessGroups& groups, Diagnostics& diagnostics);

  [[nodiscard]] const trace::Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::vector<ResolvedWait>& waits() const { return waits_; }

  /// Edges along time; for boost's algorithms.
  [[nodiscard]] const Adjacency& successors() const { return successors_; }
  /// The same edges, turned around.
  [[nodiscard]] const Adjacency& predecessors() const { return predecessors_; }
  [[nodiscard]] std::size_t vertices() const { return boost::num_vertices(successors_); }
  [[nodiscard]] std::size_t edges() const { return boost::num_edges(successors_); }
  [[nodiscard]] std::size_t edges_of(EdgeKind kind) const { return edges_of_kind_[static_cast<std::size_t>(kind)]; }

  [[nodiscard]] static VertexId start_of(trace::OperationId op) { return 2 * op.value; }
  [[nodiscard]] static VertexId end_of(trace::OperationId op) { return 2 * op.value + 1; }
  /// None for the meeting point of a collective.
  [[nodiscard]] std::optional<trace::OperationId> operation_of(VertexId vertex) const;
  [[nodiscard]] static bool is_end(VertexId vertex) { return vertex % 2 == 1; }
  /// When this point was reached in the recording; of a meeting point: the last start.
  [[nodiscard]] Nanoseconds time_of(VertexId vertex) const;

  /// Calls visit(VertexId from, EdgeKind) for each edge that ends at `vertex`.
  template <class Visit>
  void for_each_predecessor(VertexId vertex, Visit visit) const {
    for (auto [edge, end] = boost::out_edges(vertex, predecessors_); edge != end; ++edge) {
      visit(boost::target(*edge, predecessors_), predecessors_[*edge].kind);
    }
  }

 private:
  const trace::Trace* trace_;
  std::vector<ResolvedWait> waits_;
  std::vector<Nanoseconds> meeting_times_;
  Adjacency successors_;
  Adjacency predecessors_;
  std::array<std::size_t, kEdgeKinds> edges_of_kind_{};
};

}  // namespace interlace::graph
