#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"

namespace interlace::ingest {

inline constexpr ErrorCode kNoFiles{"ingest.no_files"};
inline constexpr ErrorCode kFolderOfPredictions{"ingest.folder_of_predictions"};
inline constexpr ErrorCode kCannotOpen{"ingest.cannot_open"};
inline constexpr ErrorCode kEmptyFile{"ingest.empty_file"};
inline constexpr ErrorCode kDamagedGzip{"ingest.damaged_gzip"};
inline constexpr ErrorCode kInflatesTooLarge{"kineto.inflates_too_large"};
inline constexpr ErrorCode kUnsupportedFormat{"ingest.unsupported_format"};
inline constexpr ErrorCode kUnknownFormat{"ingest.unknown_format"};
inline constexpr ErrorCode kRanksOfDifferentRuns{"ingest.ranks_of_different_runs"};
inline constexpr ErrorCode kDuplicateRank{"ingest.duplicate_rank"};
inline constexpr ErrorCode kSnapshotCount{"ingest.snapshot_count"};
inline constexpr ErrorCode kSnapshotOfOtherRun{"ingest.snapshot_of_other_run"};
inline constexpr ErrorCode kSnapshotTwice{"ingest.snapshot_twice"};
inline constexpr ErrorCode kNothingRecorded{"ingest.nothing_recorded"};

inline constexpr DiagnosticKind kTrailingBytes{"ingest.trailing_bytes", Severity::kDataLoss,
                                               "bytes behind the end of a recording, which are not read",
                                               "check whether two recordings stand in one file: name one file a rank"};
inline constexpr DiagnosticKind kOtherFiles{
    "ingest.other_files", Severity::kInfo, "files and folders beside the traces in a folder, which are not read",
    "name the files themselves where one of them is a trace or a memory snapshot"};

}  // namespace interlace::ingest
