#include <algorithm>

#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;

namespace {

bool is_call(OperationKind kind) { return kind >= OperationKind::kHostCall && kind <= OperationKind::kHostSync; }

std::vector<OperationId> calls_of(const trace::Trace& trace, LaneId thread) {
  std::vector<OperationId> calls;
  for (const OperationId op : trace.on_lane(thread)) {
    if (is_call(trace.kind(op))) calls.push_back(op);
  }
  return calls;
}

/// The thread whose forward this thread runs the backward of: told by forward-backward links where they are recorded,
/// else the busiest thread of the rank, if this one runs autograd's functions.
std::optional<LaneId> forward_thread_of(const trace::Trace& trace, LaneId thread) {
  static constexpr std::string_view kAutograd = "autograd::engine::evaluate_function";
  bool autograd = false;
  for (const OperationId op : trace.on_lane(thread)) {
    if (trace.kind(op) != OperationKind::kRange) continue;
    const trace::RangeDetail* range = trace.range(op);
    if (range->forward_op && trace.lane_of(*range->forward_op) != thread) return trace.lane_of(*range->forward_op);
    autograd = autograd || trace.name(op).starts_with(kAutograd);
  }
  if (!autograd) return std::nullopt;
  std::optional<LaneId> busiest;
  std::size_t most = 0;
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    const trace::Lane& lane = trace.lane({l});
    const bool other =
        lane.kind == trace::LaneKind::kHostThread && lane.rank == trace.lane(thread).rank && l != thread.value;
    if (!other || trace.on_lane({l}).size() <= most) continue;
    most = trace.on_lane({l}).size();
    busiest = LaneId{l};
  }
  return busiest;
}

struct Burst {
  std::size_t first;  ///< of the backward thread's calls
  std::size_t last;
  std::size_t resumes;  ///< of the forward thread's calls: the first that starts after the burst began
};

/// Calls of the backward thread that no call of the forward thread comes between.
std::vector<Burst> bursts_of(const trace::Trace& trace, const std::vector<OperationId>& backward,
                             const std::vector<OperationId>& forward) {
  std::vector<Burst> bursts;
  std::size_t next = 0;
  for (std::size_t b = 0; b < backward.size(); ++b) {
    while (next < forward.size() && trace.start(forward[next]) <= trace.start(backward[b])) ++next;
    if (bursts.empty() || bursts.back().resumes != next) bursts.push_back({b, b, next});
    bursts.back().last = b;
  }
  return bursts;
}

}  // namespace

// loss.backward() hands over to autograd's thread and returns when that is done, so the two threads take turns. They
// are taken to do so only where they nearly always do: a forward thread that goes on during backward is not held by it.
void add_thread_handoffs(const trace::Trace& trace, EdgeList& edges, Diagnostics& diagnostics) {
  for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
    if (trace.lane({l}).kind != trace::LaneKind::kHostThread) continue;
    const std::vector<OperationId> backward = calls_of(trace, {l});
    if (backward.empty()) continue;
    const auto forward_thread = forward_thread_of(trace, {l});
    if (!forward_thread) continue;
    const std::vector<OperationId> forward = calls_of(trace, *forward_thread);
    const std::vector<Burst> bursts = bursts_of(trace, backward, forward);
    static constexpr std::size_t kCallsATurn = 10;
    if (backward.size() < kCallsATurn * bursts.size()) {
      diagnostics.count(kConcurrentThread, trace.lane({l}).name);
      continue;
    }
    for (const Burst& burst : bursts) {
      const OperationId first = backward[burst.first];
      const OperationId last = backward[burst.last];
      if (burst.resumes > 0 && trace.end(forward[burst.resumes - 1]) <= trace.start(first)) {
        edges.add(Graph::end_of(forward[burst.resumes - 1]), Graph::start_of(first), EdgeKind::kThreadHandoff, 0);
      }
      if (burst.resumes < forward.size() && trace.end(last) <= trace.start(forward[burst.resumes])) {
        edges.add(Graph::end_of(last), Graph::start_of(forward[burst.resumes]), EdgeKind::kThreadHandoff, 0);
      }
    }
  }
}

}  // namespace interlace::graph
