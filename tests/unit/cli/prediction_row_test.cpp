#include "simulator/cli/prediction_row.hpp"

#include <gtest/gtest.h>

#include "simulator/schedule/library.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::cli {
namespace {

using replay::WorkKind;

/// The few steps that are shown: one of 100 ns without any work.
replay::Prediction shown() {
  trace::TraceBuilder builder;
  const trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  const trace::LaneId thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
  builder.add_host_call({thread, builder.intern("call"), 0, 100, {}});
  Diagnostics none;
  return {
      .schedule = "s", .trace = std::move(builder).build(none), .steps = {{{0, 100}}}, .simulated = {{"backward"}, {}}};
}

// Two runs of two steps of 100 ns, communication in [100, 140) and [200, 220) in both. In one a kernel, begun before
// the first step that counts, hides 30 ns of the first and another all of the second; in the other none hides anything.
TEST(PredictedOverlap, IsThatOfAllStepsOfAllRuns) {
  replay::Prediction prediction = shown();
  const std::vector<replay::PredictedRun::DeviceWork> collectives{{0, WorkKind::kCollective, 0, {100, 140}},
                                                                  {0, WorkKind::kCollective, 0, {200, 220}}};
  const std::vector<std::vector<Interval>> steps{{{100, 200}, {200, 300}}};
  prediction.simulated.runs = {{collectives, steps}, {collectives, steps}};
  prediction.simulated.runs[0].works.push_back({0, WorkKind::kKernel, 0, {40, 130}});
  prediction.simulated.runs[0].works.push_back({0, WorkKind::kKernel, 0, {190, 290}});

  const analysis::OverlapSummary mean = predicted_overlap(prediction.simulated).mean;
  EXPECT_EQ(mean.step_ns, 100);
  EXPECT_EQ(mean.communication_ns, 30);
  EXPECT_EQ(mean.exposed_communication_ns, 18);  // 5 in the one run, 30 in the other: 17.5
  EXPECT_EQ(mean.communication_hidden_ns, 13);   // 25 and 0: 12.5
  EXPECT_EQ(mean.compute_ns, 33);                // 65 and 0: 32.5
}

// The host is ahead of the device: of the few steps on the device that a predicted trace shows it has made some calls
// before, and others it makes behind the last of them.
TEST(AnalysePrediction, TheHostWaitsAsInAllIterationsOfAllRuns) {
  trace::TraceBuilder builder;
  const trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  const trace::LaneId thread = builder.lane(trace::LaneKind::kHostThread, rank, 1, 1);
  builder.add_host_call({thread, builder.intern("cudaLaunchKernel"), 0, 10, {}});
  builder.add_sync(trace::OperationKind::kHostSync, {thread, builder.intern("cudaStreamSynchronize"), 20, 500, {}},
                   {.kind = trace::SyncKind::kStreamSync});
  Diagnostics none;
  const trace::Trace recorded = std::move(builder).build(none);
  const trace::OperationId launch{0};
  const trace::OperationId sync{1};

  replay::Prediction prediction = shown();
  replay::PredictedRun run;
  run.steps = {{{100, 200}}};
  run.iterations = 2;
  run.calls = {{0, 0, launch, 70}, {0, 0, sync, 30}, {0, 0, sync, 50}, {0, {}, {}, 20}};
  prediction.simulated.runs = {run, run};
  const std::vector<analysis::HostBlock> blocks = analyse_prediction(prediction, recorded).host_blocks;
  EXPECT_EQ(blocks, (std::vector<analysis::HostBlock>{{"backward", analysis::BlockKind::kStreamSync, 40, 1.0},
                                                      {"", analysis::BlockKind::kEventSync, 10, 0.5}}));
}

TEST(PredictionRow, TellsHazardsUnderTheRulesOfTheModel) {
  const schedule::Schedule fused = schedule::find("torchrec/fused_sparse_dist_before_optimizer");
  const auto hazards = [&](check::CheckOptions checked) {
    return prediction_row(fused, shown(), {}, {}, {}, checked).hazards.size();
  };
  EXPECT_EQ(hazards({}), 0U);
  EXPECT_EQ(hazards({.feature_processors = true}), 1U);
}

}  // namespace
}  // namespace interlace::cli
