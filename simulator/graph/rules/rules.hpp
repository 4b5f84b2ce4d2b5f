#pragma once

#include <span>

#include "simulator/graph/process_groups.hpp"
#include "simulator/graph/range_nesting.hpp"
#include "simulator/graph/rules/edge_list.hpp"
#include "simulator/graph/stream_queues.hpp"
#include "simulator/graph/waits.hpp"

namespace interlace::graph {

// The rules that make the graph, one a file. docs/dependency_graph.md says why each holds and when it may not.

void add_durations(const trace::Trace& trace, EdgeList& edges);
void add_program_order(const trace::Trace& trace, EdgeList& edges);
void add_launches(const trace::Trace& trace, EdgeList& edges);
void add_stream_order(const trace::Trace& trace, const StreamQueues& queues, EdgeList& edges, Diagnostics& diagnostics);
void add_event_waits(const StreamQueues& queues, std::span<const ResolvedWait> waits, EdgeList& edges);
void add_host_syncs(const trace::Trace& trace, const StreamQueues& queues, EdgeList& edges, Diagnostics& diagnostics);
void add_blocking_copies(const trace::Trace& trace, EdgeList& edges);
void add_rendezvous(const trace::Trace& trace, const StreamQueues& queues, const ProcessGroups& groups, EdgeList& edges,
                    Diagnostics& diagnostics);
void add_thread_handoffs(const trace::Trace& trace, EdgeList& edges, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kOverlapOnStream{
    "graph.overlap_on_stream", Severity::kInfo,
    "device work that started before the work ahead of it on its stream ended (programmatic launch)",
    "none needed: it is ordered after the start of the work ahead of it"};
inline constexpr DiagnosticKind kSyncTargetUnknown{
    "graph.sync_target_unknown", Severity::kWarning,
    "host synchronisations of which it is not known what they wait for",
    "record with cuda_sync events; a prediction may let the host run too early"};
inline constexpr DiagnosticKind kSyncStreamInferred{
    "graph.sync_stream_inferred", Severity::kInfo,
    "host synchronisations whose stream is not recorded; the stream in use on the thread was taken",
    "record with cuda_sync events to be sure"};
inline constexpr DiagnosticKind kCollectiveUnmatched{
    "graph.collective_unmatched", Severity::kWarning,
    "collectives that could not be joined with those of the other ranks",
    "give the recordings of all ranks of one run; a prediction keeps the waiting that is in them as recorded"};
inline constexpr DiagnosticKind kConcurrentThread{
    "graph.concurrent_thread", Severity::kInfo,
    "backward threads that ran while the thread that called them went on; not taken for handing over to each other",
    "none needed where the program runs backward asynchronously"};

}  // namespace interlace::graph
