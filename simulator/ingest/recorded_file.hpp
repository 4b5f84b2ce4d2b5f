#pragma once

#include <filesystem>
#include <variant>
#include <vector>

#include "simulator/ingest/kineto/rank_file.hpp"
#include "simulator/ingest/memory_snapshot/snapshot.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/ingest/same_run.hpp"
#include "simulator/ingest/trace_file.hpp"

namespace interlace::ingest {

/// One file, decoded by itself.
using RecordedFile = std::variant<kineto::RankFile, TraceFile, memory_snapshot::Snapshot>;

/// Reads one file of any format that is known, inflated where it was compressed. Safe to call for several at once.
/// Throws ingest.*, kineto.*, ilt.*, nsys.*, pickle.*, memory_snapshot.*.
[[nodiscard]] RecordedFile read_recorded_file(const std::filesystem::path& file, const ReadOptions& options);

/// Reads a file that must be a memory snapshot, of any pickle protocol. Throws ingest.*, pickle.*, memory_snapshot.*.
[[nodiscard]] memory_snapshot::Snapshot read_memory_snapshot(const std::filesystem::path& file,
                                                             const ReadOptions& options);

/// What each rank of the file says of its run; Kineto files hold one.
[[nodiscard]] std::vector<RankFacts> facts_of(const RecordedFile& file);

}  // namespace interlace::ingest
