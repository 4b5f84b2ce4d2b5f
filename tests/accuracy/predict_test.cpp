// Predictions from the shipped recordings of two H200s against what was measured without a profiler. The bounds are the
// goals of docs/accuracy.md (3 % for a speed-up) with a little room: a change that breaks one must be understood.

#include "simulator/replay/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/accuracy/measured.hpp"

namespace interlace::replay {
namespace {

std::filesystem::path folder() { return std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6"; }

std::map<std::string, double> measured_ms() {
  std::map<std::string, double> slowest;
  for (const char* file : {"c6.r0.json", "c6.r1.json"}) {
    const auto results = measured(folder() / file);
    for (const auto& [schedule, name] : kMeasuredAs) {
      slowest[schedule] = std::max(slowest[schedule], results[name]["mean_ms"].get<double>());
    }
  }
  return slowest;
}

class FromOneRecording : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  static std::map<std::string, Prediction> predictions(const std::string& recorded, const PredictOptions& options) {
    const std::vector<std::filesystem::path> files{folder() / (recorded + ".r0.json.gz"),
                                                   folder() / (recorded + ".r1.json.gz")};
    const ingest::Recording recording = ingest::read(files);
    Diagnostics diagnostics;
    const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
    const Predictor predictor(recording.trace, cut, diagnostics);
    std::map<std::string, Prediction> all;
    for (const auto& [schedule, name] : kMeasuredAs)
      all.emplace(schedule, predictor.predict(schedule::find(schedule), options));
    return all;
  }
};

TEST_P(FromOneRecording, SpeedUpsComeOutAsMeasured) {
  const auto measured = measured_ms();
  const auto predicted = predictions(GetParam().first, {});
  const std::string& source = GetParam().second;
  const auto self = static_cast<double>(predicted.at(source).step_time);
  EXPECT_NEAR(self / 1e6 / measured.at(source), 1.0, 0.02);
  double sum = 0;
  for (const auto& [schedule, prediction] : predicted) {
    const double speed_up = static_cast<double>(prediction.step_time) / self;
    const double error = speed_up / (measured.at(schedule) / measured.at(source)) - 1.0;
    sum += std::abs(error);
    EXPECT_NEAR(error, 0.0, 0.035) << schedule;
  }
  EXPECT_LT(sum / static_cast<double>(predicted.size() - 1), 0.02);
}

TEST_P(FromOneRecording, TheOrderOfClearlyDifferentSchedulesIsRight) {
  const auto measured = measured_ms();
  const auto predicted = predictions(GetParam().first, {});
  for (const auto& [a, first] : predicted) {
    for (const auto& [b, second] : predicted) {
      if (measured.at(a) > measured.at(b) * 0.97) continue;
      EXPECT_LT(first.step_time, second.step_time) << a << " and " << b;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(C6, FromOneRecording,
                         testing::Values(std::pair("sparse", "torchrec/sparse_dist"),
                                         std::pair("base", "torchrec/base"),
                                         std::pair("fused_snew", "torchrec/fused_sparse_dist_new_stream")));

TEST(Prediction, IsTheSameEveryTime) {
  const std::vector<std::filesystem::path> files{folder() / "sparse.r0.json.gz", folder() / "sparse.r1.json.gz"};
  const ingest::Recording recording = ingest::read(files);
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  const Predictor predictor(recording.trace, cut, diagnostics);
  const Prediction once = predictor.predict(schedule::find("torchrec/semi_sync"), {});
  const Prediction again = predictor.predict(schedule::find("torchrec/semi_sync"), {});
  EXPECT_EQ(once.step_time, again.step_time);
  EXPECT_EQ(once.step_time_low, again.step_time_low);
  EXPECT_EQ(once.step_time_high, again.step_time_high);
  EXPECT_LT(once.step_time_low, once.step_time);
  EXPECT_GT(once.step_time_high, once.step_time);
}

TEST(Prediction, OneRankAloneStillGivesAnAnswerAndSaysWhatItCosts) {
  const std::vector<std::filesystem::path> files{folder() / "sparse.r0.json.gz"};
  const ingest::Recording recording = ingest::read(files);
  Diagnostics diagnostics;
  const stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  const Predictor predictor(recording.trace, cut, diagnostics);
  EXPECT_GT(diagnostics.count_of("replay.collective_without_peers"), 0);
  const Prediction prediction = predictor.predict(schedule::find("torchrec/sparse_dist"), {});
  EXPECT_NEAR(static_cast<double>(prediction.step_time) / 1e6, measured_ms().at("torchrec/sparse_dist"), 3.5);
}

}  // namespace
}  // namespace interlace::replay
