#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "simulator/graph/graph.hpp"

namespace interlace::trace_check {

/// The host waits for an event (cudaEventSynchronize), and the recording does not tell where that was recorded, as
/// those of PyTorch's profiler mostly do not.
[[nodiscard]] bool waits_for_untold_event(const trace::Trace& trace, trace::OperationId sync);

/// Waits of one rank of which the recording does not tell for sure what they are for. Each may be for all that was
/// queued before it.
class Doubts {
 public:
  Doubts(const graph::Graph& graph, trace::RankId rank);

  [[nodiscard]] bool empty() const;
  /// When the last wait of a stream began that work queued on it at `queued_at` comes behind.
  [[nodiscard]] std::optional<Nanoseconds> of_stream(trace::LaneId stream, Nanoseconds queued_at) const;
  /// When the last wait of the host began that was over then. On any thread: a recording does not tell which waits for
  /// another by other means.
  [[nodiscard]] std::optional<Nanoseconds> of_host(Nanoseconds queued_at) const;

 private:
  std::vector<std::vector<Nanoseconds>> of_streams_;          ///< begin of waits, by lane, in order
  std::vector<std::pair<Nanoseconds, Nanoseconds>> of_host_;  ///< end and latest begin so far, by end
};

}  // namespace interlace::trace_check
