#pragma once

#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/graph/graph.hpp"
#include "simulator/trace/clock_tolerance.hpp"

namespace interlace::graph {

using trace::kClockTolerance;

inline constexpr DiagnosticKind kEdgeAgainstTime{
    "graph.edge_against_time", Severity::kWarning,
    "dependencies that the recorded times contradict by more than clocks can explain; left out",
    "a rule does not hold in this program, or the clocks of its ranks differ; predictions may miss a dependency"};

/// Where the rules put their edges. It checks each against the recorded times.
class EdgeList {
 public:
  EdgeList(const trace::Trace& trace, Diagnostics& diagnostics) : trace_(trace), diagnostics_(diagnostics) {}

  /// Leaves the edge out and counts kEdgeAgainstTime where `to` came before `from` by more than `tolerance`.
  void add(VertexId from, VertexId to, EdgeKind kind, Nanoseconds tolerance);
  /// A new meeting point, reached at this time.
  VertexId add_meeting(Nanoseconds time);

  [[nodiscard]] Nanoseconds time_of(VertexId vertex) const;
  [[nodiscard]] std::vector<Edge>& edges() { return edges_; }
  [[nodiscard]] std::vector<Nanoseconds>& meeting_times() { return meeting_times_; }

 private:
  const trace::Trace& trace_;
  Diagnostics& diagnostics_;
  std::vector<Edge> edges_;
  std::vector<Nanoseconds> meeting_times_;
};

}  // namespace interlace::graph
