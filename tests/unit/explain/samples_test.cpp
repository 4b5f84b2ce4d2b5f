#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "simulator/explain/explain.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::explain {
namespace {

const std::filesystem::path kRoot = INTERLACE_SOURCE_DIR;

struct Sample {
  explicit Sample(const std::string& name)
      : recording(ingest::read(std::array{kRoot / ("samples/traces/torchrec_c6/" + name + ".r0.json.gz"),
                                          kRoot / ("samples/traces/torchrec_c6/" + name + ".r1.json.gz")})),
        cut(stages::cut(recording.trace, stages::torchrec_profile(), recording.diagnostics)),
        staged(trace_check::staged_by(recording.trace, cut, schedule::Schedule{})) {}

  ingest::Recording recording;
  stages::Cut cut;
  trace_check::StagedWork staged;
};

// Each shipped recording beside what is predicted for its schedule from the recording of another.
TEST(ExplainSamples, PartsAddUpAndWorksCorrespond) {
  Sample sparse("sparse");
  Diagnostics diagnostics;
  const replay::Predictor predictor(sparse.recording.trace, sparse.cut, diagnostics);
  for (const auto& [name, schedule] : {std::pair{"sparse", "torchrec/sparse_dist"}, std::pair{"base", "torchrec/base"},
                                       std::pair{"fused_snew", "torchrec/fused_sparse_dist_new_stream"}}) {
    const Sample recorded(name);
    const replay::Prediction prediction = predictor.predict(schedule::find(schedule), {});
    const trace_check::StagedWork predicted = trace_check::staged_by_names(prediction.trace);
    const Explanation result = explain(run_of(recorded.recording.trace, recorded.staged),
                                       run_of(prediction.trace, predicted), diagnostics, diagnostics);
    Nanoseconds sum = 0;
    for (const Part& part : result.parts) sum += part.effect_ns;
    EXPECT_EQ(sum, result.difference_ns()) << name;
    EXPECT_EQ(result.of(Cause::kUnexplained), 0) << name;
    // The few others exchange the splits of modules together in one schedule and each for itself in the other.
    EXPECT_GT(result.matching.matched_measured, 0.97 * result.matching.measured) << name;
    EXPECT_GT(result.matching.matched_predicted, 0.97 * result.matching.predicted) << name;
    // Steps are those that the recordings hold: 33 to 38 ms on these machines.
    EXPECT_NEAR(static_cast<double>(result.measured_step_ns), 35.5e6, 2.5e6) << name;
  }
}

// A recording beside itself: the same program, so nothing is left over and nothing differs.
TEST(ExplainSamples, ARecordingIsAsItself) {
  const Sample base("base");
  Diagnostics diagnostics;
  const auto run = run_of(base.recording.trace, base.staged);
  const Explanation same = explain(run, run, diagnostics, diagnostics);
  EXPECT_EQ(same.difference_ns(), 0);
  EXPECT_TRUE(same.matching.unmatched.empty());
  EXPECT_DOUBLE_EQ(same.matching.matched_measured, same.matching.measured);
}

// A rank that only one of the traces has says nothing of the other's.
TEST(ExplainSamples, ComparesTheRanksThatBothHave) {
  const auto folder = kRoot / "samples/traces/engine_exposed/sparse_dist";
  const auto staged_run = [](ingest::Recording& recording) {
    const stages::Cut cut = stages::cut(recording.trace, stages::interlace_profile(), recording.diagnostics);
    return trace_check::staged_by(recording.trace, cut, schedule::Schedule{});
  };
  ingest::Recording both = ingest::read(std::array{folder / "rank0.ilt", folder / "rank1.ilt"});
  ingest::Recording second = ingest::read(std::array{folder / "rank1.ilt"});
  const trace_check::StagedWork of_both = staged_run(both);
  const trace_check::StagedWork of_second = staged_run(second);
  Diagnostics diagnostics;
  const Explanation same =
      explain(run_of(both.trace, of_both), run_of(second.trace, of_second), diagnostics, diagnostics);
  EXPECT_EQ(same.difference_ns(), 0);
  EXPECT_DOUBLE_EQ(same.matching.measured, same.matching.predicted);
  EXPECT_TRUE(same.matching.operations.empty()) << same.matching.operations.front().operation;
  EXPECT_TRUE(same.matching.unmatched.empty());
  EXPECT_TRUE(same.matching.moved.empty());
}

}  // namespace
}  // namespace interlace::explain
