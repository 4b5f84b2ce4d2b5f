// Memory predicted from the shipped recordings with memory events against what was measured without a profiler. The
// goals are 0.1 % for allocated, 1 % for active and 3 % for reserved bytes; where a goal is missed the bound says how
// far.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "simulator/ingest/read.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/accuracy/measured.hpp"

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

std::filesystem::path traces() { return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces"; }

void expect_close(const PredictedMemory& memory, const nlohmann::json& truth, double active_error,
                  double reserved_error) {
  const auto error = [&](Bytes predicted, const char* key) {
    return static_cast<double>(predicted) / truth[key].get<double>() - 1.0;
  };
  EXPECT_NEAR(error(memory.course.allocated_peak, "allocated_bytes"), 0, 0.001);
  EXPECT_NEAR(error(memory.course.active_peak, "active_bytes"), 0, active_error);
  EXPECT_NEAR(error(memory.reserved_peak, "reserved_bytes"), 0, reserved_error);
  EXPECT_LE(memory.reserved_low, memory.reserved_peak);
  EXPECT_GE(memory.reserved_high, memory.reserved_peak);
}

class MemoryFromOneRecording : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(MemoryFromOneRecording, ComesOutAsMeasured) {
  const auto& [recorded, source] = GetParam();
  const std::filesystem::path folder = traces() / "torchrec_c6";
  const std::vector<std::filesystem::path> files{folder / (recorded + ".mem.r0.json.gz"),
                                                 folder / (recorded + ".mem.r1.json.gz")};
  const ingest::Recording recording = ingest::read(files);
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  Predictor predictor(recording.trace, cut, diagnostics);
  ASSERT_TRUE(predictor.learn_memory(schedule::find(source), diagnostics));
  for (const auto& [name, wanted] : kSchedules) {
    const Prediction prediction = predictor.predict(schedule::find(name), {});
    ASSERT_EQ(prediction.memory.size(), 2U);
    for (int rank = 0; rank < 2; ++rank) {
      SCOPED_TRACE(name + " rank " + std::to_string(rank));
      const auto truth = measured(folder / ("c6.r" + std::to_string(rank) + ".json"))[wanted.measured_as];
      expect_close(prediction.memory[static_cast<std::size_t>(rank)], truth, 0.01, wanted.reserved_error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(C6, MemoryFromOneRecording,
                         testing::Values(std::pair("sparse", "torchrec/sparse_dist"),
                                         std::pair("base", "torchrec/base"),
                                         std::pair("fused_snew", "torchrec/fused_sparse_dist_new_stream")));

/// Tables cut by rows: a reduce-scatter brings the pooled embeddings, an all-gather sends their gradients.
class MemoryOfRowWiseTables : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(predictor_.learn_memory(sparse_, diagnostics_)); }

  static ingest::Recording read() {
    return ingest::read(std::vector<std::filesystem::path>{kFolder / "sparse.mem.r0.ilt"});
  }

  inline static const std::filesystem::path kFolder = traces() / "torchrec_x2_rowwise";
  schedule::Schedule sparse_ = schedule::find("torchrec/sparse_dist");
  ingest::Recording recording_ = read();
  Diagnostics diagnostics_;
  stages::Cut cut_ = stages::cut(recording_.trace, stages::torchrec_profile(), diagnostics_);
  Predictor predictor_{recording_.trace, cut_, diagnostics_};
};

TEST_F(MemoryOfRowWiseTables, ComesOutAsMeasured) {
  const nlohmann::json truth = measured(kFolder / "x2.r0.json");
  for (const auto& [name, wanted] : kSchedules) {
    SCOPED_TRACE(name);
    const Prediction prediction = predictor_.predict(schedule::find(name), {});
    ASSERT_EQ(prediction.memory.size(), 1U);
    // The copied batch of one iteration more or less waits for its streams at the peak of active bytes.
    expect_close(prediction.memory.front(), truth[wanted.measured_as], 0.02, 0.03);
  }
}

// How late the first bucket for gradients is let go is a matter of chance, as is with which batch training began: each
// run has its own.
TEST_F(MemoryOfRowWiseTables, FitsWhereItDoesInAllRuns) {
  const schedule::Schedule semi = schedule::find("torchrec/semi_sync");
  const auto least_capacity = [&](int runs) {
    PredictOptions options;
    options.runs = runs;
    Bytes too_little = 0;
    Bytes enough = Bytes{16} << 30;
    while (enough - too_little > (Bytes{1} << 20)) {
      options.memory.capacity = (too_little + enough) / 2;
      const bool fails = predictor_.predict(semi, options).memory.front().course.first_failure.has_value();
      (fails ? too_little : enough) = *options.memory.capacity;
    }
    return enough;
  };
  EXPECT_GT(least_capacity(4), least_capacity(1) + (Bytes{16} << 20));
}

}  // namespace
}  // namespace interlace::replay
