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

}  // namespace interlace::ingest::memory_snapshot
