#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

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
};

/// A job as recorded, and what was missing, repaired or inferred while reading it.
struct Recording {
  trace::Trace trace;
  Diagnostics diagnostics;
};

/// Reads the recordings of one run, one file a rank, onto one time axis. The format is told by content, not by name.
///
/// A file is the rank it says it is, else its position in `files`; ranks appear in the trace in the order of their
/// numbers. Times of all files are taken to be of one clock (one host). The result does not depend on the number of
/// threads.
///
/// Throws Error: ingest.* (a file cannot be opened, is of another format, inflates to too much, does not belong to the
/// run of the others) and kineto.* (the JSON is cut off or no trace).
[[nodiscard]] Recording read(std::span<const std::filesystem::path> files, const ReadOptions& options = {});

}  // namespace interlace::ingest
