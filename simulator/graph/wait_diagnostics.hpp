#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/graph/waits.hpp"

namespace interlace::graph {

/// The diagnostic under which waits with this evidence are counted.
[[nodiscard]] const DiagnosticKind& diagnostic_of(Evidence evidence);

inline constexpr DiagnosticKind kWaitRecorded{"graph.wait_recorded", Severity::kInfo,
                                              "stream waits whose event record is recorded", "none needed"};
inline constexpr DiagnosticKind kWaitIdleStream{"graph.wait_idle_stream", Severity::kInfo,
                                                "stream waits of streams that run no recorded work", "none needed"};
inline constexpr DiagnosticKind kWaitNcclInternal{
    "graph.wait_nccl_internal", Severity::kInfo, "stream waits between NCCL's own streams; they order no recorded work",
    "none needed"};
inline constexpr DiagnosticKind kWaitNcclInput{"graph.wait_nccl_input", Severity::kInfo,
                                               "stream waits of a collective for its inputs, told by the record before",
                                               "none needed; a profiler that fills record ids would make it sure"};
inline constexpr DiagnosticKind kWaitAdjacentRecord{"graph.wait_adjacent_record", Severity::kInfo,
                                                    "stream waits joined to the event record directly before",
                                                    "none needed; a profiler that fills record ids would make it sure"};
inline constexpr DiagnosticKind kWaitEventNumber{"graph.wait_event_number", Severity::kInfo,
                                                 "stream waits joined to an event record by counting event ids",
                                                 "none needed; a profiler that fills record ids would make it sure"};
inline constexpr DiagnosticKind kWaitWatchdogOrder{
    "graph.wait_watchdog_order", Severity::kInfo,
    "stream waits joined to a collective by the order in which NCCL's watchdog polls",
    "none needed; a profiler that fills record ids would make it sure"};
inline constexpr DiagnosticKind kWaitStreamSwitch{
    "graph.wait_stream_switch", Severity::kInfo,
    "stream waits joined to a record in another function, at a change of stream",
    "none needed; a profiler that fills record ids would make it sure"};
inline constexpr DiagnosticKind kWaitCollectiveHandle{
    "graph.wait_collective_handle", Severity::kInfo,
    "stream waits joined to a collective first in, first out by call site",
    "none needed; a profiler that fills record ids would make it sure"};
inline constexpr DiagnosticKind kWaitUnknown{
    "graph.wait_unknown", Severity::kWarning, "stream waits whose producer is not known; they order nothing here",
    "record with cuda_sync events; `check` and `explain` may miss an order (predictions go by their schedules)"};

inline constexpr DiagnosticKind kWaitStreamInferred{
    "graph.wait_stream_inferred", Severity::kInfo,
    "stream waits without a record of the stream that waits; told by the launches around the call",
    "record with cuda_sync events (PyTorch profiler: experimental_config enable_cuda_sync_events) to be sure"};
inline constexpr DiagnosticKind kWaitProducerAssumed{
    "graph.wait_producer_assumed", Severity::kInfo,
    "stream waits for which several producer streams fit the recorded times; the one used last was taken",
    "a schedule that moves this wait may be predicted too early or too late"};
inline constexpr DiagnosticKind kRecordIgnored{
    "graph.record_ignored", Severity::kInfo,
    "event records directly before a wait for another event (the caching allocator makes such)",
    "none needed: the wait was resolved by other evidence"};
inline constexpr DiagnosticKind kInferredWaitViolated{
    "graph.inferred_wait_violated", Severity::kWarning,
    "stream waits whose inferred producer ended after their consumer started; the dependency was dropped",
    "report the trace: a rule of docs/dependency_graph.md does not hold in it"};

}  // namespace interlace::graph
