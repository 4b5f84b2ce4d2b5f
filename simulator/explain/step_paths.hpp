#pragma once

#include <string>
#include <vector>

#include "simulator/explain/work_names.hpp"
#include "simulator/graph/critical_path.hpp"

namespace interlace::explain {

/// A piece of the critical path of a step: one device work, or what the host does in one stage without a break.
struct PathElement {
  NameId name;
  bool host = false;
  trace::OperationId operation;  ///< the (last) operation
  Nanoseconds in = 0;            ///< in the work, of a collective from the last arrival on; of the host: all of it
  Nanoseconds before = 0;        ///< from what bound it to its start; 0 of the host
  graph::EdgeKind bound_by = graph::EdgeKind::kDuration;  ///< how it hung on the element before it
  bool unexplained = false;                               ///< nothing is known that `before` was spent on

  [[nodiscard]] Nanoseconds total() const { return in + before; }
};

/// By time. The totals add up to the length of the step exactly.
using StepPath = std::vector<PathElement>;

/// By rank, by step: the chain of dependencies, each the last to be met, that leads to the end of the rank's step. It
/// goes through all ranks.
[[nodiscard]] std::vector<std::vector<StepPath>> step_paths(const graph::Graph& graph, const Run& run,
                                                            const NamedWork& names, WorkNames& known);

}  // namespace interlace::explain
