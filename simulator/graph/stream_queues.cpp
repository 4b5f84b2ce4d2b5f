#include "simulator/graph/stream_queues.hpp"

#include <algorithm>
#include <utility>

#include "simulator/graph/communication_streams.hpp"

namespace interlace::graph {

using trace::LaneId;
using trace::OperationId;

StreamQueues::StreamQueues(const trace::Trace& trace)
    : trace_(&trace),
      queues_(trace.lanes().size()),
      position_(trace.size(), 0),
      last_to_end_(trace.size()),
      is_communication_(communication_streams(trace)) {
  for (std::uint32_t l = 0; l < queues_.size(); ++l) {
    if (trace.lane({l}).kind != trace::LaneKind::kStream) continue;
    auto& queue = queues_[l];
    for (const OperationId op : trace.on_lane({l})) {
      if (is_device_work(trace.kind(op))) queue.push_back(op);
    }
    const auto order = [&](OperationId op) { return std::pair(queued_at(op), op.value); };
    if (!std::ranges::is_sorted(queue, {}, order)) std::ranges::sort(queue, {}, order);
    for (std::uint32_t i = 0; i < queue.size(); ++i) {
      const OperationId op = queue[i];
      position_[op.index()] = i;
      const OperationId latest = i == 0 ? op : last_to_end_[queue[i - 1].index()];
      last_to_end_[op.index()] = trace.end(latest) > trace.end(op) ? latest : op;
    }
  }
}

std::span<const OperationId> StreamQueues::queue(LaneId stream) const { return queues_[stream.index()]; }

Nanoseconds StreamQueues::queued_at(OperationId work) const {
  const auto call = trace_->launch_of(work);
  return trace_->start(call.value_or(work));
}

std::size_t StreamQueues::position_at(LaneId stream, Nanoseconds time) const {
  const auto& queue = queues_[stream.index()];
  const auto at = std::ranges::lower_bound(queue, time, {}, [&](OperationId op) { return queued_at(op); });
  return static_cast<std::size_t>(at - queue.begin());
}

std::optional<OperationId> StreamQueues::last_before(LaneId stream, Nanoseconds time) const {
  const std::size_t position = position_at(stream, time);
  return position == 0 ? std::nullopt : std::optional(queues_[stream.index()][position - 1]);
}

std::span<const OperationId> StreamQueues::from(LaneId stream, Nanoseconds time) const {
  return queue(stream).subspan(position_at(stream, time));
}

std::optional<OperationId> StreamQueues::first_from(LaneId stream, Nanoseconds time) const {
  const auto work = from(stream, time);
  return work.empty() ? std::nullopt : std::optional(work.front());
}

std::optional<OperationId> StreamQueues::predecessor(OperationId op) const {
  const std::uint32_t position = position_[op.index()];
  if (position == 0) return std::nullopt;
  return queues_[trace_->lane_of(op).index()][position - 1];
}

}  // namespace interlace::graph
