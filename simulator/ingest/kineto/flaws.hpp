#pragma once

#include "simulator/base/diagnostics.hpp"

namespace interlace::ingest::kineto {

/// Counted by category: the code is followed by a point and the category.
inline constexpr DiagnosticKind kIgnoredCategory{"kineto.ignored_category", Severity::kInfo,
                                                 "events of a category that is not used", "nothing to do"};
/// Likewise.
inline constexpr DiagnosticKind kForeignWork{"kineto.foreign_device_work", Severity::kDataLoss,
                                             "work of devices other than CUDA and ROCm GPUs",
                                             "it is left out: work of this kind of device is not modelled"};
inline constexpr DiagnosticKind kMalformedEvent{"kineto.malformed_event", Severity::kDataLoss,
                                                "events that lack a time or a correlation, or have impossible sizes",
                                                "they are left out; record again with a newer PyTorch"};
inline constexpr DiagnosticKind kRepairedEvent{
    "kineto.repaired_event", Severity::kInfo,
    "events with invalid JSON (bytes that are no UTF-8, control characters, bare quotes) that could be mended",
    "names may show a replacement character"};
inline constexpr DiagnosticKind kUnreadableEvent{"kineto.unreadable_event", Severity::kDataLoss,
                                                 "events whose JSON is broken beyond mending", "record again"};
inline constexpr DiagnosticKind kNamedLane{"kineto.named_lane", Severity::kInfo,
                                           "events whose process or thread id is a text",
                                           "they lie on lanes of their own that bear a made-up number"};
inline constexpr DiagnosticKind kUnreadableHeader{"kineto.unreadable_header", Severity::kWarning,
                                                  "header fields that are not as Kineto writes them",
                                                  "device facts, rank or run may be unknown; see the place"};
inline constexpr DiagnosticKind kNoDevices{"kineto.no_device_properties", Severity::kWarning,
                                           "files that do not describe their GPUs",
                                           "contention is modelled with the facts of a GPU that must be named"};
inline constexpr DiagnosticKind kSyncWithoutCall{"kineto.sync_without_call", Severity::kWarning,
                                                 "synchronisation records whose host call is not in the recording",
                                                 "the waits they tell of are unknown to the model"};
inline constexpr DiagnosticKind kDuplicateSync{"kineto.duplicate_sync", Severity::kInfo,
                                               "synchronisation records beyond the first of a host call",
                                               "the first is used"};
inline constexpr DiagnosticKind kWaitWithoutRecord{
    "kineto.wait_without_record", Severity::kInfo,
    "waits for an event for which the profiler does not tell which record it was",
    "the edge is inferred from event ids and order; newer CUPTI loses these unless event records are collected"};
inline constexpr DiagnosticKind kRecordNotFound{
    "kineto.record_not_found", Severity::kWarning,
    "waits that name an event record which is not in the recording, or is no event record",
    "what they wait for is inferred where it can be, else they order nothing"};
inline constexpr DiagnosticKind kUnmatchedForwardBackward{
    "kineto.unmatched_forward_backward", Severity::kInfo,
    "arrows from forward to backward whose ends are not both in the recording",
    "these operators are paired by sequence number"};
inline constexpr DiagnosticKind kContradictingFlow{
    "kineto.contradicting_flow", Severity::kWarning,
    "launch arrows that disagree with the correlation ids of the operations",
    "correlation ids are used; check whether a tool has merged or edited the file"};
inline constexpr DiagnosticKind kCollectiveWithoutMetadata{
    "kineto.collective_without_metadata", Severity::kWarning, "communication kernels without sizes and group",
    "they keep their recorded durations; record with PyTorch 2.1 or newer"};
inline constexpr DiagnosticKind kUnknownDtype{"kineto.unknown_dtype", Severity::kInfo,
                                              "collectives whose dtype has an unknown size",
                                              "their byte counts are unknown"};
inline constexpr DiagnosticKind kTimeOutOfRange{
    "kineto.time_out_of_range", Severity::kDataLoss,
    "events whose time is more than 95 years from the file's base time or zero", "they are left out"};
inline constexpr DiagnosticKind kUntimedWork{
    "kineto.untimed_work", Severity::kDataLoss,
    "device operations whose times were lost: at time 0, or long before the host recorded anything",
    "they are left out; record again, and export each profile before the next one starts"};
inline constexpr DiagnosticKind kNoAnnotations{
    "kineto.no_annotations", Severity::kWarning, "files without user annotations",
    "stages are told apart by annotations (record_function): without them only times and overlap can be shown"};
inline constexpr DiagnosticKind kRankOutsideWorld{"kineto.rank_outside_world", Severity::kWarning,
                                                  "files whose rank is not below their world size",
                                                  "check distributedInfo"};

}  // namespace interlace::ingest::kineto
