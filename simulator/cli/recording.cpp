#include "simulator/cli/recording.hpp"

#include <fmt/format.h>

namespace interlace::cli {

ingest::Recording read_recording(const std::vector<std::string>& files, Console& console) {
  console.progress(files.size() == 1 ? fmt::format("reading {}", files.front())
                                     : fmt::format("reading {} files", files.size()));
  const std::vector<std::filesystem::path> paths(files.begin(), files.end());
  return ingest::read(paths);
}

}  // namespace interlace::cli
