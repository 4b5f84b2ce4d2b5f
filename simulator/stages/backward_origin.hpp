#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::stages {

/// Is this range autograd's evaluation of one backward node?
[[nodiscard]] bool is_backward_node(const trace::Trace& trace, trace::OperationId op);

/// Joins work that autograd launched with the forward operation whose backward it is. The recorder gives every forward
/// operation a sequence number and repeats it on the backward node; where it also drew a forward-backward flow, that is
/// preferred, since operations that need no gradient carry the number of the next one that does.
class BackwardOrigins {
 public:
  BackwardOrigins(const trace::Trace& trace, trace::RankId rank);

  /// None where the node has no forward (gradient accumulation, DDP hooks) or it lies before the recording.
  [[nodiscard]] std::optional<trace::OperationId> forward_of(trace::OperationId host_call) const;
  /// Does the call lie in a node that has no forward by nature?
  [[nodiscard]] bool is_accumulation(trace::OperationId host_call) const;

 private:
  struct Node {
    Interval span;
    std::optional<std::int64_t> sequence_number;
    std::optional<trace::OperationId> forward;
    bool accumulation = false;
  };
  [[nodiscard]] const Node* node_around(trace::OperationId host_call) const;

  const trace::Trace* trace_;
  std::map<trace::LaneId, std::vector<Node>> nodes_;  ///< by start
};

}  // namespace interlace::stages
