#include "simulator/ingest/read.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/ingest/join.hpp"
#include "simulator/ingest/recorded_file.hpp"
#include "simulator/ingest/trace_files.hpp"

namespace interlace::ingest {

Recording read(std::span<const std::filesystem::path> named, const ReadOptions& options) {
  Diagnostics diagnostics;
  const std::vector<std::filesystem::path> files = trace_files(named, diagnostics);

  // Of several failures the first in the order of the files is told, whichever came first in time.
  std::vector<RecordedFile> recorded(files.size());
  std::vector<std::exception_ptr> failures(files.size());
  tbb::parallel_for(std::size_t{0}, files.size(), [&](std::size_t i) {
    try {
      recorded[i] = read_recorded_file(files[i], options);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }

  Recording recording = join(std::move(recorded));
  diagnostics.merge(recording.diagnostics);
  return {std::move(recording.trace), std::move(diagnostics)};
}

}  // namespace interlace::ingest
