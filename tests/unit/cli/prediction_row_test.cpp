#include "simulator/cli/prediction_row.hpp"

#include <gtest/gtest.h>

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
  return {.schedule = "s", .trace = std::move(builder).build(none), .steps = {{{0, 100}}}, .labels = {"backward"}};
}

// Two runs of two steps of 100 ns, communication in [100, 140) and [200, 220) in both. In one a kernel, begun before
// the first step that counts, hides 30 ns of the first and another all of the second; in the other none hides anything.
TEST(AnalysePrediction, OverlapIsThatOfAllStepsOfAllRuns) {
  replay::Prediction prediction = shown();
  const std::vector<replay::PredictedRun::DeviceWork> collectives{{0, WorkKind::kCollective, 0, {100, 140}},
                                                                  {0, WorkKind::kCollective, 0, {200, 220}}};
  const std::vector<std::vector<Interval>> steps{{{100, 200}, {200, 300}}};
  prediction.runs = {{collectives, steps}, {collectives, steps}};
  prediction.runs[0].works.push_back({0, WorkKind::kKernel, 0, {40, 130}});
  prediction.runs[0].works.push_back({0, WorkKind::kKernel, 0, {190, 290}});

  const analysis::OverlapSummary mean = analyse_prediction(prediction).overlap.mean;
  EXPECT_EQ(mean.step_ns, 100);
  EXPECT_EQ(mean.communication_ns, 30);
  EXPECT_EQ(mean.exposed_communication_ns, 18);  // 5 in the one run, 30 in the other: 17.5
  EXPECT_EQ(mean.communication_hidden_ns, 13);   // 25 and 0: 12.5
  EXPECT_EQ(mean.compute_ns, 33);                // 65 and 0: 32.5
}

}  // namespace
}  // namespace interlace::cli
