#pragma once

#include <cstddef>
#include <vector>

#include "simulator/graph/graph.hpp"

namespace interlace::graph {

/// What a graph of a sound recording must have. Violations are findings about the recording or bugs of a rule; callers
/// decide which.
struct Verification {
  bool acyclic = true;
  std::size_t device_work = 0;
  std::size_t without_launch = 0;        ///< device work that no recorded host call launched
  std::size_t streams_out_of_order = 0;  ///< neighbours on a stream with no path of one edge between them
  std::size_t edges_back_in_time = 0;    ///< edges whose target was reached before its source, by any amount
  Nanoseconds furthest_back = 0;         ///< the most that any goes back; >= 0
  std::vector<Edge> worst;               ///< up to ten of those that go back furthest

  /// No cycle, every stream ordered, and no edge further back than clocks can explain.
  [[nodiscard]] bool sound() const;
};

/// O(vertices + edges).
[[nodiscard]] Verification verify(const Graph& graph);

}  // namespace interlace::graph
