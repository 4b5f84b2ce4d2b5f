#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// The shipped recording of a TorchRec schedule on two GPUs: "sparse", "base", "fused_snew".
inline ingest::Recording sample_of(const std::string& schedule) {
  const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";
  const std::vector<std::filesystem::path> files{folder / (schedule + ".r0.json.gz"),
                                                 folder / (schedule + ".r1.json.gz")};
  return ingest::read(files);
}

/// The shipped recording of torchrec/sparse_dist on two GPUs, cut and boiled down.
class RecordedSample : public testing::Test {
 protected:
  ingest::Recording recording = sample_of("sparse");
  Diagnostics diagnostics;
  stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  SiteTable table = find_sites(recording.trace, cut, diagnostics);
};

}  // namespace interlace::replay
