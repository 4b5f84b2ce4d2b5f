#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

Json answer(const std::string& arguments) {
  const Finished run = interlace(arguments + " --format json");
  EXPECT_EQ(run.status, 0) << run.err;
  return Json::parse(run.out);
}

/// One whose steps a label known by name marks, and one of three steps without such. Under both schedules the next
/// batch's lookups put the optimizer off in all steps but the last recorded one.
class RecordedSteps : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedSteps, AreOneFigureInInfoAndPredict) {
  const Json info = answer("info " + GetParam());
  double mean = 0;
  for (const Json& rank : info["ranks"]) {
    mean += rank["step_time_ns"].get<double>() / static_cast<double>(info["ranks"].size());
  }
  const Json recorded = answer("predict --schedule torchrec/base --from " + GetParam())["recorded"];
  EXPECT_NEAR(recorded["step_time_ns"].get<double>(), mean, 1);
  EXPECT_EQ(recorded["steps"], info["ranks"][0]["window"]["steps"]);
}

// The hosts of sparse_dist take two thirds of a step for their first and wait for 10 ms in it; in the second they wait
// for 24, as those of a recording of twelve steps do in all but the first.
TEST(RecordedHosts, AreTakenOverTheStepsThatTheyRunAtTheDevicesPace) {
  const Json info = answer("info " + sample("sparse"));
  EXPECT_EQ(info["ranks"][0]["window"]["steps"], 2);
  EXPECT_EQ(info["ranks"][0]["host_window"]["steps"], 1);
  double blocked = 0;
  for (const Json& place : info["host_blocks"]) blocked += place["blocked_ns"].get<double>();
  EXPECT_NEAR(blocked, 24.3e6, 0.2e6);
  const Json recorded = answer("predict --schedule torchrec/base --from " + sample("sparse"))["recorded"];
  EXPECT_EQ(recorded["overlap"]["host_blocked_ns"].get<double>(), blocked);
}

INSTANTIATE_TEST_SUITE_P(Samples, RecordedSteps,
                         ::testing::Values(sample("fused_snew"), INTERLACE_SOURCE_DIR
                                           "/samples/traces/engine_exposed/fused_sparse_dist_new_stream"),
                         [](const auto& of) { return of.index == 0 ? "torchrec" : "engine"; });

}  // namespace
}  // namespace interlace::cli
