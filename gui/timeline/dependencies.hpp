#pragma once

#include <vector>

#include "gui/timeline/dependency.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::graph {
class Graph;
}

namespace interlace::gui {

/// All arrows that begin or end at `op`, by what joins them; from peers they point at `op`. What merely comes next on a
/// stream or thread is no arrow.
[[nodiscard]] std::vector<Dependency> dependencies_of(const graph::Graph& graph, trace::OperationId op);

/// The same from the trace alone, without a graph: launches and backward only.
[[nodiscard]] std::vector<Dependency> recorded_links_of(const trace::Trace& trace, trace::OperationId op);

}  // namespace interlace::gui
