#include "simulator/cli/recording.hpp"

#include <fmt/format.h>

namespace interlace::cli {

ingest::Recording read_recording(const std::vector<std::string>& files,
                                 const std::vector<std::string>& memory_snapshots, Console& console) {
  console.progress(files.size() == 1 ? fmt::format("reading {}", files.front())
                                     : fmt::format("reading {} files", files.size()));
  const std::vector<std::filesystem::path> paths(files.begin(), files.end());
  ingest::ReadOptions options;
  options.memory_snapshots.assign(memory_snapshots.begin(), memory_snapshots.end());
  return ingest::read(paths, options);
}

}  // namespace interlace::cli
