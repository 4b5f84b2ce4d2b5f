#include "simulator/stages/backward_origin.hpp"

#include <algorithm>
#include <unordered_map>

namespace interlace::stages {

using trace::LaneId;
using trace::OperationId;
using trace::RangeDetail;
using trace::RangeKind;
using trace::Trace;

namespace {

constexpr std::string_view kNodePrefix = "autograd::engine::evaluate_function";

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

bool is_backward_node(const Trace& trace, OperationId op) {
  const RangeDetail* range = trace.range(op);
  return range != nullptr && range->kind == RangeKind::kCpuOp && trace.name(op).starts_with(kNodePrefix);
}

BackwardOrigins::BackwardOrigins(const Trace& trace, trace::RankId rank) : trace_(&trace) {
  // The last operation before the backward that carries a sequence number is the one that needs the gradient.
  std::unordered_map<std::int64_t, std::vector<OperationId>> forwards;
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    if (trace.lane(LaneId{i}).kind != trace::LaneKind::kHostThread || trace.lane(LaneId{i}).rank != rank) continue;
    std::vector<Node> nodes;
    for (const OperationId op : trace.on_lane(LaneId{i})) {
      const RangeDetail* range = trace.range(op);
      if (range == nullptr || range->kind != RangeKind::kCpuOp) continue;
      const Interval span{trace.start(op), trace.end(op)};
      if (is_backward_node(trace, op)) {
        nodes.push_back({span, range->sequence_number, range->forward_op, has(trace.name(op), "AccumulateGrad")});
      } else if (!nodes.empty() && span.begin < nodes.back().span.end) {
        Node& node = nodes.back();
        if (!node.forward) node.forward = range->forward_op;
        // PyTorch itself gives the engine's range none: the profiler copies it from the node within.
        if (!node.sequence_number) node.sequence_number = range->sequence_number;
      } else if (range->sequence_number) {
        forwards[*range->sequence_number].push_back(op);
      }
    }
    if (!nodes.empty()) nodes_[LaneId{i}] = std::move(nodes);
  }
  for (auto& [lane, nodes] : nodes_) {
    for (Node& node : nodes) {
      if (node.forward || node.accumulation || !node.sequence_number) continue;
      const auto same = forwards.find(*node.sequence_number);
      if (same == forwards.end()) continue;
      for (const OperationId op : same->second) {
        if (trace.start(op) < node.span.begin) node.forward = op;
      }
    }
  }
}

const BackwardOrigins::Node* BackwardOrigins::node_around(OperationId host_call) const {
  const auto lane = nodes_.find(trace_->lane_of(host_call));
  if (lane == nodes_.end()) return nullptr;
  const Nanoseconds t = trace_->start(host_call);
  const auto after = std::ranges::upper_bound(lane->second, t, {}, [](const Node& n) { return n.span.begin; });
  if (after == lane->second.begin()) return nullptr;
  const Node& node = *(after - 1);
  return node.span.contains(t) ? &node : nullptr;
}

std::optional<OperationId> BackwardOrigins::forward_of(OperationId host_call) const {
  const Node* node = node_around(host_call);
  return node == nullptr ? std::nullopt : node->forward;
}

bool BackwardOrigins::is_accumulation(OperationId host_call) const {
  const Node* node = node_around(host_call);
  return node == nullptr || node->accumulation;
}

}  // namespace interlace::stages
