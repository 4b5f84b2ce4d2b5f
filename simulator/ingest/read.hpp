#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/units.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::ingest {

struct ReadOptions {
  /// The most bytes one compressed file may inflate to. None: half of this machine's memory, at most 16 GiB.
  std::optional<Bytes> max_inflated_bytes;
  /// The most bytes one compressed byte may become, on average, in a file that inflates to over 256 MiB. Traces reach
  /// 10 to 60; a file made to exhaust memory reaches 1000.
  std::int64_t max_inflation_ratio = 200;
  /// What torch.cuda.memory._dump_snapshot wrote in the recorded processes, one a rank.
  std::vector<std::filesystem::path> memory_snapshots;
};

/// A job as recorded, and what was missing, repaired or inferred while reading it.
struct Recording {
  trace::Trace trace;
  Diagnostics diagnostics;
};

/// Reads the recordings of one run onto one time axis: Kineto files hold one rank each, .ilt files and
/// exports of Nsight Systems one or more. A folder stands for the traces in it (trace_files.hpp). The format is told by
/// content, not by name.
///
/// Memory snapshots, among the files or in the options, are joined with the recordings
/// (memory_snapshot/attach.hpp); where all files are snapshots, each is a recording of its rank by itself.
///
/// A recorded rank is the rank it says it is, else its position among those read; ranks appear in the trace in the
/// order of their numbers. Times of all files are taken to be of one clock (one host), also where formats are mixed:
/// files without a common moment are refused. The result does not depend on the number of threads.
///
/// Throws Error: ingest.* (a file cannot be opened, is of another format, inflates to too much, does not belong to the
/// run of the others, snapshots and ranks do not fit), kineto.* (the JSON is cut off or no trace), ilt.*
/// (docs/ilt_format.md), nsys.* (docs/nsight_systems.md), pickle.* and memory_snapshot.*.
[[nodiscard]] Recording read(std::span<const std::filesystem::path> named, const ReadOptions& options = {});

}  // namespace interlace::ingest
