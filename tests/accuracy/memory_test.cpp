// Memory predicted from the shipped recordings with memory events against what was measured without a profiler. The
// goals are 0.1 % for allocated, 1 % for active and 3 % for reserved bytes; where a goal is missed the bound says how
// far.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "simulator/ingest/read.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::replay {
namespace {

struct Wanted {
  std::string measured_as;
  double reserved_error = 0.03;
};

const std::map<std::string, Wanted> kSchedules{
    {"torchrec/base", {"base", 0.06}},  // what the first iteration leaves behind in main's pool is not modelled
    {"torchrec/sparse_dist", {"sparse"}},
    {"torchrec/sparse_dist_inplace", {"sparse:inplace"}},
    {"torchrec/fused_sparse_dist", {"fused:s=data_dist", 0.04}},  // rank 1: one batch block more in data_dist's pool
    {"torchrec/fused_sparse_dist_new_stream", {"fused:s=new"}},
    {"torchrec/semi_sync", {"semi"}},
};

std::filesystem::path folder() { return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6"; }

nlohmann::json measured(int rank) {
  std::ifstream in(folder() / ("c6.r" + std::to_string(rank) + ".json"));
  return nlohmann::json::parse(in)["results"];
}

class MemoryFromOneRecording : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(MemoryFromOneRecording, ComesOutAsMeasured) {
  const auto& [recorded, source] = GetParam();
  const std::vector<std::filesystem::path> files{folder() / (recorded + ".mem.r0.json.gz"),
                                                 folder() / (recorded + ".mem.r1.json.gz")};
  const ingest::Recording recording = ingest::read(files);
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  Predictor predictor(recording.trace, cut, diagnostics);
  ASSERT_TRUE(predictor.learn_memory(schedule::find(source), diagnostics));
  for (const auto& [name, wanted] : kSchedules) {
    const Prediction prediction = predictor.predict(schedule::find(name), {});
    ASSERT_EQ(prediction.memory.size(), 2U);
    for (int rank = 0; rank < 2; ++rank) {
      const auto truth = measured(rank)[wanted.measured_as];
      const PredictedMemory& memory = prediction.memory[static_cast<std::size_t>(rank)];
      const auto error = [&](Bytes predicted, const char* key) {
        return static_cast<double>(predicted) / truth[key].get<double>() - 1.0;
      };
      EXPECT_NEAR(error(memory.course.allocated_peak, "allocated_bytes"), 0, 0.001) << name << " rank " << rank;
      EXPECT_NEAR(error(memory.course.active_peak, "active_bytes"), 0, 0.01) << name << " rank " << rank;
      EXPECT_NEAR(error(memory.reserved_peak, "reserved_bytes"), 0, wanted.reserved_error) << name << " rank " << rank;
      EXPECT_LE(memory.reserved_low, memory.reserved_peak);
      EXPECT_GE(memory.reserved_high, memory.reserved_peak);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(C6, MemoryFromOneRecording,
                         testing::Values(std::pair("sparse", "torchrec/sparse_dist"),
                                         std::pair("base", "torchrec/base"),
                                         std::pair("fused_snew", "torchrec/fused_sparse_dist_new_stream")));

}  // namespace
}  // namespace interlace::replay
