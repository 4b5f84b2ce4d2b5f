#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::graph {

/// Why we believe that a stream wait waits for what we say it waits for. Strongest first.
enum class Evidence : std::uint8_t {
  kRecorded,          ///< the recording names the event record or the stream it was made on
  kIdleStream,        ///< the waiting stream is told for other waits and not for this one: it runs no recorded work
  kNcclInternal,      ///< a pair within NCCL, between its own streams: no recorded work is waited for
  kNcclInput,         ///< record and wait just before a communication kernel: it waits for its inputs
  kAdjacentRecord,    ///< record and wait in one function, one after the other: stream.wait_stream()
  kEventNumber,       ///< event ids count creations, so this id names one record call
  kWatchdogOrder,     ///< NCCL's watchdog polls the events of collectives in issue order, so this id names one
  kStreamSwitch,      ///< a record, then a wait as the thread moves to another stream (autograd)
  kCollectiveHandle,  ///< work.wait(): collectives of a call site are waited for first in, first out
  kUnknown,
};
inline constexpr std::size_t kEvidences = 10;
[[nodiscard]] std::string_view to_string(Evidence evidence);

/// What a wait waits for.
enum class Producer : std::uint8_t {
  kNothing,     ///< no recorded work: the queue was empty, or the event is internal to a library
  kQueuedWork,  ///< all work that was queued on `producer_stream` when the event was recorded; `producer` is the last
                ///< of it
  kCollective,  ///< one collective: `producer`
  kUnknown,
};

/// One kStreamWait of a trace, with both its ends.
struct ResolvedWait {
  trace::OperationId wait;                     ///< the host call
  std::optional<trace::LaneId> stream;         ///< that waits
  std::optional<trace::OperationId> consumer;  ///< the first work queued on `stream` after the call
  Producer kind = Producer::kUnknown;
  std::optional<trace::OperationId> record;  ///< the event record, where it is known
  std::optional<trace::LaneId> producer_stream;
  std::optional<trace::OperationId> producer;  ///< device work that has to end before `consumer` starts
  Evidence evidence = Evidence::kUnknown;
  bool stream_inferred = false;  ///< `stream` is not recorded but told by the launches around the call
  bool producer_stream_assumed =
      false;  ///< several streams would fit the recorded times equally; the likeliest was taken

  bool operator==(const ResolvedWait&) const = default;
};

/// One sentence for people: what is waited for, and how we know.
[[nodiscard]] std::string explain(const trace::Trace& trace, const ResolvedWait& wait);

/// Switches to judge rules by each other.
struct WaitInferenceOptions {
  bool use_recorded = true;       ///< kRecorded
  bool use_watchdog = true;       ///< kWatchdogOrder
  bool use_event_numbers = true;  ///< kEventNumber
  bool use_names = true;          ///< whether names of call sites may support kCollectiveHandle
};

/// Resolves every kStreamWait of the trace, in the order of the trace. Kineto on CUDA 13 tells neither which record a
/// wait waits for nor, without cuda_sync records, which stream waits; docs/dependency_graph.md describes the rules.
/// Counts each wait under graph.wait_<evidence>, and beside that (wait_diagnostics.hpp): graph.wait_stream_inferred,
/// graph.wait_producer_assumed, graph.record_ignored (a record directly before a wait of another event) and
/// graph.inferred_wait_violated (the recorded times contradict the inference: the producer is then dropped).
/// O(n log n).
[[nodiscard]] std::vector<ResolvedWait> infer_waits(const trace::Trace& trace, Diagnostics& diagnostics,
                                                    const WaitInferenceOptions& options = {});

/// How far before the end of its producer a consumer may start without contradicting it: the resolution of the
/// device's time stamps.
inline constexpr Nanoseconds kStampTolerance = 2 * kMicrosecond;

}  // namespace interlace::graph
