#pragma once

#include "simulator/base/diagnostics.hpp"

namespace interlace::ingest::nsys {

inline constexpr DiagnosticKind kUnusableRow{
    "nsys.unusable_row", Severity::kDataLoss,
    "rows that lack a time, a process or a stream, or have impossible sizes or times",
    "they are left out; export the report again with the version of Nsight Systems that recorded it"};
inline constexpr DiagnosticKind kOtherProcess{
    "nsys.other_process", Severity::kInfo,
    "calls, ranges and waits of processes that gave no GPU work; they are left out", "none needed"};
/// Counted by table: the code is followed by a point and the table.
inline constexpr DiagnosticKind kHelperProcess{
    "nsys.helper_process", Severity::kInfo,
    "processes that gave GPUs less than a hundredth of the work that the busiest one did; they are left out",
    "none needed where they are no ranks of the job"};
/// Counted by table, as the next.
inline constexpr DiagnosticKind kUnusedWork{"nsys.unused_work", Severity::kDataLoss,
                                            "rows of a table of work on streams that is not known",
                                            "they are left out: the streams look idle meanwhile"};
inline constexpr DiagnosticKind kUnusedTable{"nsys.unused_table", Severity::kInfo, "rows of a table that is not used",
                                             "none needed"};
inline constexpr DiagnosticKind kUnknownText{"nsys.unknown_text", Severity::kWarning,
                                             "names that the table of texts (StringIds) does not have",
                                             "they read as (unnamed); export the report again"};
inline constexpr DiagnosticKind kSyncWithoutCall{"nsys.sync_without_call", Severity::kWarning,
                                                 "synchronisation rows whose host call is not in the export",
                                                 "the waits they tell of are unknown to the model"};
inline constexpr DiagnosticKind kDuplicateSync{"nsys.duplicate_sync", Severity::kInfo,
                                               "synchronisation rows beyond the first of a host call",
                                               "the first is used"};
inline constexpr DiagnosticKind kWaitWithoutRecord{
    "nsys.wait_without_record", Severity::kInfo,
    "waits for an event for which the export does not tell which record it was",
    "the edge is inferred from order; exports of nsys profile --cuda-event-trace=true have it, which may itself delay "
    "the program"};
inline constexpr DiagnosticKind kCollectiveWithoutMetadata{
    "nsys.collective_without_metadata", Severity::kInfo,
    "communication kernels without sizes and groups, which are not read of exports",
    "they keep their recorded durations, and the k-th stream with such kernels of each rank is taken for one group"};
inline constexpr DiagnosticKind kWholeGraph{
    "nsys.whole_graph", Severity::kWarning, "launches of CUDA graphs that were recorded as one operation each",
    "their kernels are unknown to the model; record with nsys profile --cuda-graph-trace=node"};
inline constexpr DiagnosticKind kOpenRange{"nsys.open_range", Severity::kInfo,
                                           "ranges of NVTX that nobody ended while it was recorded",
                                           "they have no length; end them in the program"};
inline constexpr DiagnosticKind kNoDevices{"nsys.no_device_properties", Severity::kWarning,
                                           "GPUs that the export does not describe",
                                           "contention is modelled with the facts of a GPU that must be named"};
inline constexpr DiagnosticKind kNoAnnotations{
    "nsys.no_annotations", Severity::kWarning, "processes without ranges that divide the program",
    "stages are told apart by ranges: torch.cuda.nvtx, or record_function in emit_nvtx(); record with "
    "--trace=cuda,nvtx"};
inline constexpr DiagnosticKind kRecorderWarning{
    "nsys.recorder_warning", Severity::kWarning, "warnings and errors that Nsight Systems noted while it recorded",
    "see the place for the first; all are in the report's Diagnostics Summary"};

}  // namespace interlace::ingest::nsys
