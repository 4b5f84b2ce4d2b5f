#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::ingest {

/// A shipped file, or folder of them.
inline std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples" / "traces" / name;
}

inline Recording read_text(const testing::KinetoText& text) {
  const testing::TemporaryFolder folder;
  const std::vector<std::filesystem::path> files{folder.write("trace.json", text.text())};
  return read(files);
}

}  // namespace interlace::ingest
