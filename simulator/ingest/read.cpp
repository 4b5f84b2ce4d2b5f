#include "simulator/ingest/read.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/ingest/errors.hpp"
#include "simulator/ingest/join.hpp"
#include "simulator/ingest/memory_snapshot/as_rank.hpp"
#include "simulator/ingest/memory_snapshot/attach.hpp"
#include "simulator/ingest/recorded_file.hpp"
#include "simulator/ingest/trace_files.hpp"

namespace interlace::ingest {

namespace {

/// Snapshots that were named among recordings belong to these. Where there is nothing else, they are the recordings.
std::vector<memory_snapshot::Snapshot> take_snapshots(std::vector<RecordedFile>& recorded) {
  const auto is_snapshot = [](const RecordedFile& file) {
    return std::holds_alternative<memory_snapshot::Snapshot>(file);
  };
  std::vector<memory_snapshot::Snapshot> snapshots;
  if (std::ranges::all_of(recorded, is_snapshot)) return snapshots;
  for (RecordedFile& file : recorded) {
    if (is_snapshot(file)) snapshots.push_back(std::move(std::get<memory_snapshot::Snapshot>(file)));
  }
  std::erase_if(recorded, is_snapshot);
  return snapshots;
}

void check_history(std::span<const RecordedFile> recorded) {
  for (const RecordedFile& file : recorded) {
    const auto* snapshot = std::get_if<memory_snapshot::Snapshot>(&file);
    if (snapshot == nullptr || memory_snapshot::window_of(*snapshot)) continue;
    throw Error(kNothingRecorded, snapshot->file.string(), "the memory snapshot has no history of allocations",
                "call torch.cuda.memory._record_memory_history() before the steps, or name the trace of them too");
  }
}

}  // namespace

Recording read(std::span<const std::filesystem::path> named, const ReadOptions& options) {
  Diagnostics diagnostics;
  const std::vector<std::filesystem::path> files = trace_files(named, diagnostics);

  // Of several failures the first in the order of the files is told, whichever came first in time.
  const std::size_t all = files.size() + options.memory_snapshots.size();
  std::vector<RecordedFile> recorded(all);
  std::vector<std::exception_ptr> failures(all);
  tbb::parallel_for(std::size_t{0}, all, [&](std::size_t i) {
    try {
      if (i < files.size()) {
        recorded[i] = read_recorded_file(files[i], options);
      } else {
        recorded[i] = read_memory_snapshot(options.memory_snapshots[i - files.size()], options);
      }
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }

  const std::vector<memory_snapshot::Snapshot> snapshots = take_snapshots(recorded);
  check_history(recorded);
  Recording recording = join(std::move(recorded));
  diagnostics.merge(recording.diagnostics);
  if (snapshots.empty()) return {std::move(recording.trace), std::move(diagnostics)};
  trace::Trace with_memory = memory_snapshot::attach_snapshots(recording.trace, snapshots, diagnostics);
  return {std::move(with_memory), std::move(diagnostics)};
}

}  // namespace interlace::ingest
