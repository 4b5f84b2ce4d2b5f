#pragma once

#include <string>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"

namespace interlace::trace::ilt {

inline constexpr ErrorCode kCannotRead{"ilt.cannot_read"};
inline constexpr ErrorCode kCannotWrite{"ilt.cannot_write"};
inline constexpr ErrorCode kDamaged{"ilt.damaged"};
inline constexpr ErrorCode kInvalid{"ilt.invalid"};
inline constexpr ErrorCode kNewerVersion{"ilt.newer_version"};
inline constexpr ErrorCode kNotIlt{"ilt.not_ilt"};
inline constexpr ErrorCode kTooLarge{"ilt.too_large"};
inline constexpr ErrorCode kUnit{"ilt.unit"};

inline constexpr DiagnosticKind kDamagedChunk{"ilt.damaged_chunk", Severity::kDataLoss,
                                              "parts of the file whose checksum does not match; they were skipped",
                                              "copy the file again from where it was recorded"};
inline constexpr DiagnosticKind kLostDefinitions{
    "ilt.lost_definitions", Severity::kDataLoss,
    "names, ranks, lanes and diagnostics that stood in damaged parts of the file",
    "operations of a lost lane are missing and lost names read \"(lost)\"; copy the file again"};
inline constexpr DiagnosticKind kLostFacts{
    "ilt.lost_facts", Severity::kDataLoss,
    "facts of waits, allocator states, clocks and accounts of launches that stood in missing or damaged parts of the "
    "file",
    "waits may order less than they did, and losses while recording may be untold; copy the file again"};
inline constexpr DiagnosticKind kLostOperations{"ilt.lost_operations", Severity::kDataLoss,
                                                "operations that stood in missing or damaged parts of the file",
                                                "copy the file again, or record again; steps with gaps mislead"};
inline constexpr DiagnosticKind kLostReferences{"ilt.lost_references", Severity::kDataLoss,
                                                "references to names, lanes or operations that are lost",
                                                "the operations are kept without them"};
inline constexpr DiagnosticKind kTimeOutOfRange{"ilt.time_out_of_range", Severity::kDataLoss,
                                                "operations whose time no clock can have given; they were left out",
                                                "the recorder wrote damaged records; report it"};
inline constexpr DiagnosticKind kTruncated{
    "ilt.truncated", Severity::kDataLoss, "the recording was not closed: the file ends before its end chunk",
    "what was written before is used; let the recorded program end in order, or copy the whole file"};
inline constexpr DiagnosticKind kUnfinished{
    "ilt.unfinished", Severity::kDataLoss,
    "the file is a part, NAME.partial, that convert, merge or predict left when it was ended while writing",
    "what was written before is used; run that command again for all of it"};
inline constexpr DiagnosticKind kUnknownChunk{"ilt.unknown_chunk", Severity::kWarning,
                                              "parts of a kind that this version does not know; they were skipped",
                                              "a newer Interlace wrote the file and can read all of it"};
inline constexpr DiagnosticKind kUnknownColumn{"ilt.unknown_column", Severity::kWarning,
                                               "columns that this version does not know; they were skipped",
                                               "a newer Interlace wrote the file and can read all of it"};
inline constexpr DiagnosticKind kUnknownValue{
    "ilt.unknown_value", Severity::kWarning,
    "values of a kind that this version does not know; they read as unknown, or their row was left out",
    "a newer Interlace wrote the file and can read all of it"};

/// Thrown inside the reader for content that contradicts the specification although its checksum is right; the reader
/// adds file and byte and throws it on as an Error.
struct Malformed {
  ErrorCode code;
  std::string problem;
};

}  // namespace interlace::trace::ilt
