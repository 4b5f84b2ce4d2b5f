#pragma once

#include <optional>
#include <span>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// The device work of each stream in the order in which the host queued it: by start of the launching call, work of one
/// call (a CUDA graph) by its own start. Work whose launch was lost counts as queued when it started. This is the
/// order in which a stream executes.
class StreamQueues {
 public:
  explicit StreamQueues(const trace::Trace& trace);

  /// Empty for a lane that is no stream.
  [[nodiscard]] std::span<const trace::OperationId> queue(trace::LaneId stream) const;
  /// The last work queued on `stream` by calls that began before `time`.
  [[nodiscard]] std::optional<trace::OperationId> last_before(trace::LaneId stream, Nanoseconds time) const;
  /// Of the work queued on its stream up to `work` and with it, what ended last. Another than that where work of one
  /// stream overlaps: branches of a CUDA graph, launches that let the next one begin early.
  [[nodiscard]] trace::OperationId last_to_end(trace::OperationId work) const { return last_to_end_[work.index()]; }
  /// The work queued on `stream` by calls that began at `time` or later, and the first of it.
  [[nodiscard]] std::span<const trace::OperationId> from(trace::LaneId stream, Nanoseconds time) const;
  [[nodiscard]] std::optional<trace::OperationId> first_from(trace::LaneId stream, Nanoseconds time) const;
  /// The work before `op` on its stream.
  [[nodiscard]] std::optional<trace::OperationId> predecessor(trace::OperationId op) const;
  /// When the host queued `work`.
  [[nodiscard]] Nanoseconds queued_at(trace::OperationId work) const;
  /// Whether it is a stream of collectives (communication_streams.hpp).
  [[nodiscard]] bool is_communication(trace::LaneId stream) const { return is_communication_[stream.index()]; }

 private:
  [[nodiscard]] std::size_t position_at(trace::LaneId stream, Nanoseconds time) const;

  const trace::Trace* trace_;
  std::vector<std::vector<trace::OperationId>> queues_;  ///< by lane
  std::vector<std::uint32_t> position_;                  ///< by operation: its place in its queue
  std::vector<trace::OperationId> last_to_end_;          ///< by operation
  std::vector<bool> is_communication_;
};

}  // namespace interlace::graph
