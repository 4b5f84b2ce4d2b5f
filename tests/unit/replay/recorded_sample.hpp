#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// The shipped recording of torchrec/sparse_dist on two GPUs, cut and boiled down.
class RecordedSample : public testing::Test {
 protected:
  static ingest::Recording sample() {
    const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";
    const std::vector<std::filesystem::path> files{folder / "sparse.r0.json.gz", folder / "sparse.r1.json.gz"};
    return ingest::read(files);
  }
  ingest::Recording recording = sample();
  Diagnostics diagnostics;
  stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  SiteTable table = find_sites(recording.trace, cut, diagnostics);
};

}  // namespace interlace::replay
