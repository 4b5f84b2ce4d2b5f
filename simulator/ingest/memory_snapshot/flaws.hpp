#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"

namespace interlace::ingest::memory_snapshot {

inline constexpr ErrorCode kNotASnapshot{"memory_snapshot.not_a_snapshot"};

inline constexpr DiagnosticKind kMalformedEntry{
    "memory_snapshot.malformed_entry", Severity::kDataLoss,
    "events, segments, blocks or annotations of a snapshot that lack what they need; they were left out",
    "record with PyTorch 2.1 or newer; memory figures may be off"};
/// Counted by action: the code is followed by a point and the action.
inline constexpr DiagnosticKind kUnusedEvent{"memory_snapshot.unused_event", Severity::kInfo,
                                             "events of a snapshot that change no memory, or of an unknown kind",
                                             "nothing to do"};
inline constexpr DiagnosticKind kUnknownState{
    "memory_snapshot.unknown_state", Severity::kWarning,
    "blocks of a snapshot in a state that is not known; they are taken to be in use", "update interlace"};
inline constexpr DiagnosticKind kBlocksDoNotFit{"memory_snapshot.blocks_do_not_fit", Severity::kWarning,
                                                "segments of a snapshot whose blocks leave gaps, overlap or stick out",
                                                "memory figures may be off; record the snapshot again"};
inline constexpr DiagnosticKind kStackFrames{"memory_snapshot.stack_frames", Severity::kInfo,
                                             "stack frames of allocations, which are not read",
                                             "record with context=None to keep snapshots small"};

inline constexpr DiagnosticKind kOtherDevice{
    "memory_snapshot.other_device", Severity::kWarning, "devices of a snapshot beside the one that its rank works on",
    "their memory is left out; a process that uses a second device by mistake shows here"};
inline constexpr DiagnosticKind kNoHistory{"memory_snapshot.no_history", Severity::kWarning,
                                           "snapshots without a history of allocations",
                                           "call torch.cuda.memory._record_memory_history() before the recorded steps"};
inline constexpr DiagnosticKind kBeforeRecording{
    "memory_snapshot.before_recording", Severity::kInfo,
    "allocator events before the recording of their rank begins, which are left out", "nothing to do"};
inline constexpr DiagnosticKind kJoined{"memory_snapshot.joined", Severity::kInfo,
                                        "allocator events that the profiler and the snapshot both tell of",
                                        "nothing to do"};
inline constexpr DiagnosticKind kUnmatchedReport{
    "memory_snapshot.unmatched_report", Severity::kWarning,
    "allocations and frees that the profiler reports and the snapshot lacks",
    "let the snapshot's history cover the whole recording; memory figures may be off"};
inline constexpr DiagnosticKind kUnmatchedEvent{
    "memory_snapshot.unmatched_event", Severity::kWarning,
    "allocations and frees that the snapshot tells of and the profiler does not, amid others that it does",
    "their thread is not known; memory figures are right, stages may lack them"};
inline constexpr DiagnosticKind kOrderDiffers{
    "memory_snapshot.order_differs", Severity::kWarning,
    "allocator events that a thread reports in another order than the snapshot has",
    "check that the snapshot is of this recording; the snapshot's order is kept"};
inline constexpr DiagnosticKind kClocksDiffer{"memory_snapshot.clocks_differ", Severity::kWarning,
                                              "snapshots whose clock is more than 0.1 ms off that of the profiler",
                                              "events are joined by address; their times are the profiler's"};
inline constexpr DiagnosticKind kUnknownThread{
    "memory_snapshot.unknown_thread", Severity::kInfo, "allocator events of which no thread is known",
    "they lie on a lane of their own; record with profile_memory=True to know their threads"};
inline constexpr DiagnosticKind kLooseAnnotation{
    "memory_snapshot.loose_annotation", Severity::kInfo,
    "annotations of a snapshot that have no other end in it, or do not nest; they were left out", "nothing to do"};
inline constexpr DiagnosticKind kStreamInferred{
    "memory_snapshot.stream_inferred", Severity::kInfo,
    "stream handles of the allocator joined to streams of the trace by launches near their allocations",
    "nothing to do"};
inline constexpr DiagnosticKind kStreamUnknown{"memory_snapshot.stream_unknown", Severity::kWarning,
                                               "stream handles of the allocator of which no stream is known",
                                               "their memory is shown by handle"};

}  // namespace interlace::ingest::memory_snapshot
