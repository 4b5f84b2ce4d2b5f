#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/graph/range_nesting.hpp"
#include "simulator/graph/stream_queues.hpp"
#include "simulator/graph/waits.hpp"
#include "simulator/graph/waits/host_calls.hpp"

namespace interlace::graph {

/// What the rules of wait inference look at.
struct WaitContext {
  const trace::Trace& trace;
  RangeNesting nesting;
  SiteTable sites;
  StreamQueues queues;
  std::vector<HostCall> calls;  ///< of all ranks, by start

  explicit WaitContext(const trace::Trace& trace);
  WaitContext(const WaitContext&) = delete;
  WaitContext& operator=(const WaitContext&) = delete;

  [[nodiscard]] const HostCall& call(std::uint32_t index) const { return calls[index]; }
  /// The index of a launching or ordering call; none for another operation.
  [[nodiscard]] std::optional<std::uint32_t> index_of(trace::OperationId op) const;
};

/// A wait on the way to its ResolvedWait. A rule that understands a wait sets `evidence` and what it knows of the
/// producer; later rules leave such a wait alone.
struct WaitState {
  std::uint32_t call = 0;               ///< of WaitContext::calls
  std::optional<std::uint32_t> record;  ///< likewise; the event record waited for
  ResolvedWait result;

  [[nodiscard]] bool open() const { return result.evidence == Evidence::kUnknown; }
};

/// The collective that this call launched.
[[nodiscard]] inline trace::OperationId collective_of(const WaitContext& context, const HostCall& call) {
  return context.trace.launched_by(call.op).front();
}

/// SyncDetail::stream, or else the stream of the launches around the wait. Sets stream and consumer. CUPTI tells no
/// stream for those that never ran work: where a rank's streams are recorded, a wait without one stays so.
void find_waiting_streams(const WaitContext& context, std::span<WaitState> waits);
/// The waits that find_waiting_streams left without stream.
void apply_idle_streams(std::span<WaitState> waits);

/// What the recording says of the producer.
void apply_recorded(const WaitContext& context, std::span<WaitState> waits);
/// Record and wait next to each other in one function; tells NCCL's own pairs from the others. Counts records that
/// look adjacent but are not.
void apply_adjacent_records(const WaitContext& context, std::span<WaitState> waits);
/// Event ids as creation numbers; needs the pairs of apply_adjacent_records as fixed points.
void apply_event_numbers(const WaitContext& context, std::span<WaitState> waits);
/// Event ids polled by NCCL's watchdog threads.
void apply_watchdog_order(const WaitContext& context, std::span<WaitState> waits);
/// A record at the end of one function and a wait at the start of the next, with a change of stream between them.
void apply_stream_switch(const WaitContext& context, std::span<WaitState> waits);
/// work.wait(): joins the remaining waits with the collectives they wait for.
void apply_collective_handles(const WaitContext& context, std::span<WaitState> waits, bool use_names);

/// For waits with a known record: the stream that was current when the event was recorded, and the last work on it.
void find_producer_streams(const WaitContext& context, std::span<WaitState> waits);

/// Whether the recorded times rule out that `consumer` waited for `producer`.
[[nodiscard]] inline bool contradicts(const trace::Trace& trace, trace::OperationId producer,
                                      std::optional<trace::OperationId> consumer) {
  return consumer && trace.start(*consumer) < trace.end(producer) - kStampTolerance;
}
/// Whether nothing but a wait explains when `consumer` started: its stream was idle and its launch done long before.
[[nodiscard]] bool is_bound_by_wait(const WaitContext& context, trace::OperationId consumer);
/// Whether `consumer` started right when `producer` ended, and nothing else explains that.
[[nodiscard]] bool is_bound_by(const WaitContext& context, trace::OperationId producer, trace::OperationId consumer);

}  // namespace interlace::graph
