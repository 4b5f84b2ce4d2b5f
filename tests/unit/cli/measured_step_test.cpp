#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Recordings of the engine tell what it took before it recorded: here 237,590,243 ns for 20 steps.
class MeasuredStep : public ::testing::Test {
 protected:
  static constexpr double kToldNs = 237'590'243.0 / 20;
  [[nodiscard]] Json predict(const std::string& options, const std::string& schedule = "torchrec/base") const {
    const Finished run = interlace("predict --format json --schedule " + schedule + " " + options +
                                   " --from " INTERLACE_SOURCE_DIR "/samples/traces/engine_exposed/sparse_dist");
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  static double recorded_ns(const Json& of) { return of["recorded"]["predicted_step_time_ns"].get<double>(); }
  static double error(const Json& of) { return of["recorded"]["replay_error"].get<double>(); }
  static double first_ns(const Json& of) { return of["predictions"][0]["step_time_ns"].get<double>(); }

  testing::TemporaryFolder folder;
};

TEST_F(MeasuredStep, PredictsTheRecordedStepThatTheRecordingTells) {
  const Json plain = predict("");
  EXPECT_NEAR(recorded_ns(plain), kToldNs, 1);
  EXPECT_LT(std::abs(error(plain)), 0.05);
  EXPECT_TRUE(predict("--under-recorder")["recorded"]["replay_error"].is_null()) << "is not what was measured";
  EXPECT_NEAR(error(predict("--no-contention")), error(plain), 1e-12) << "what sharing costs is no error";
  std::ofstream(path("same.json"))
      << R"({"interlace_edits": 1, "edits": [{"scale": {"stage": "optimizer_step"}, "by": 1}]})";
  EXPECT_NEAR(recorded_ns(predict("--edit " + path("same.json"))), kToldNs, 1);
}

TEST_F(MeasuredStep, PredictsTheHiddenPartThatTheRecordingShows) {
  const auto hidden = [](const Json& of) { return of["overlap"]["communication_hidden_ratio"].get<double>(); };
  const Json answer = predict("--under-recorder", "torchrec/sparse_dist --schedule torchrec/base");
  const double shown = hidden(answer["recorded"]);
  EXPECT_GT(std::abs(answer["recorded"]["replayed_hidden_ratio"].get<double>() - shown), 0.001) << "nothing to correct";
  EXPECT_NEAR(hidden(answer["predictions"][0]), shown, 1e-6);
  EXPECT_GT(std::abs(hidden(answer["predictions"][1]) - shown), 0.05) << "base hides less";
  // The hosts of a run without the recorder are faster; that is all the difference there is.
  EXPECT_NEAR(hidden(predict("", "torchrec/sparse_dist")["predictions"][0]), shown, 0.05);
  // What is corrected is that of the job as recorded.
  const Json plain = predict("")["recorded"]["replayed_hidden_ratio"];
  EXPECT_EQ(predict("--no-contention")["recorded"]["replayed_hidden_ratio"], plain);
  EXPECT_EQ(predict("--edit " INTERLACE_SOURCE_DIR
                    "/samples/edits/longer_optimizer.json")["recorded"]["replayed_hidden_ratio"],
            plain);
}

// The recorded schedule is corrected by all of its replay's error, its twins by half: that is no effect of theirs.
// Without contention no race makes one.
TEST_F(MeasuredStep, SeesNoReasonInCorrections) {
  const Json twin = predict("--under-recorder --no-contention", "torchrec/sparse_dist_inplace")["predictions"][0];
  for (const Json& reason : twin["reasons"]) {
    EXPECT_EQ(reason.get<std::string>().find("exposes"), std::string::npos) << reason;
  }
}

// The host decides nothing of steps of 40 ms here, so that both have the same replays.
TEST_F(MeasuredStep, CorrectsOthersByAPartOfTheReplaysError) {
  const auto is_far = [](const Json& of) {
    const Json& found = of["recorded"]["diagnostics"];
    return std::ranges::any_of(found, [](const Json& one) { return one["code"] == "replay.far_from_measured"; });
  };
  const Json at_40 = predict("--measured-step-ms 40");
  EXPECT_TRUE(is_far(at_40));
  EXPECT_FALSE(is_far(predict("")));
  const Json at_44 = predict("--measured-step-ms 44");
  EXPECT_NEAR(recorded_ns(at_40), 40e6, 1);
  ASSERT_NEAR(40 * (1 + error(at_40)), 44 * (1 + error(at_44)), 1e-6);
  EXPECT_NEAR(first_ns(at_44) / first_ns(at_40), std::pow(1.1, 0.6), 1e-6);
}

TEST_F(MeasuredStep, KnowsTheRecordedScheduleUnderAnotherName) {
  std::string text = interlace("schedules show --json torchrec/sparse_dist").out;
  const std::string name = "\"torchrec/sparse_dist\"";
  text.replace(text.find(name), name.size(), "\"mine\"");
  std::ofstream(path("mine.json")) << text;
  const Json mine = predict("", path("mine.json"));
  EXPECT_EQ(mine["predictions"][0]["schedule"], "mine");
  EXPECT_NEAR(first_ns(mine), kToldNs, 1);
}

TEST_F(MeasuredStep, RefusesStepsThatNoneCanBe) {
  for (const char* wrong : {"nan", "inf", "1e30", "0", "-3", "40ms"}) {
    const Finished run =
        interlace("predict --schedule torchrec/base --from x --measured-step-ms " + std::string(wrong));
    EXPECT_EQ(run.status, 2) << wrong;
    EXPECT_NE(run.err.find("is no step time"), std::string::npos) << run.err;
  }
  const Finished both = interlace("predict --measured-step-ms 40 --under-recorder --schedule torchrec/base --from x");
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.err.find("excludes"), std::string::npos) << both.err;
}

// 33.20 ms in another unit.
TEST_F(MeasuredStep, RefusesAMeasuredStepOfAnotherJob) {
  for (const char* wrong : {"0.0332", "33200"}) {
    const Finished run = interlace("predict --schedule torchrec/base --from " + sample("sparse") +
                                   " --measured-step-ms " + std::string(wrong));
    EXPECT_EQ(run.status, 1) << wrong;
    EXPECT_NE(run.err.find("error[cli.cannot_anchor]"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("it was recorded with 33.20 ms"), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  }
}
}  // namespace
}  // namespace interlace::cli
