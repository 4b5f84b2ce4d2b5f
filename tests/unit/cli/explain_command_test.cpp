#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "simulator/report/text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

class ExplainCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    const Finished predicted =
        interlace("predict --from " + sample("sparse") + " --schedule torchrec/base --out " + folder_.path().string());
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    predicted_ = (folder_.path() / "torchrec_base.ilt").string();
  }

  testing::TemporaryFolder folder_;
  std::string predicted_;
};

TEST_F(ExplainCommand, AddsUpInJson) {
  const Finished run = interlace("explain --format json " + sample("base") + " " + predicted_);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  std::int64_t parts = 0;
  for (const auto& part : json["parts"]) parts += part["effect_ns"].get<std::int64_t>();
  std::int64_t causes = 0;
  for (const auto& [cause, effect] : json["causes_ns"].items()) causes += effect.get<std::int64_t>();
  const std::int64_t difference =
      json["predicted_step_ns"].get<std::int64_t>() - json["measured_step_ns"].get<std::int64_t>();
  EXPECT_EQ(parts, difference);
  EXPECT_EQ(causes, difference);
  EXPECT_EQ(json["difference_ns"], difference);
  EXPECT_GT(json["matching"]["matched_predicted_works_a_step"], 250);
}

TEST_F(ExplainCommand, PrintsATableThatFitsATerminal) {
  const Finished run = interlace("explain " + sample("base") + " " + predicted_);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("causes, along the critical path"), std::string::npos);
  EXPECT_NE(run.out.find("device works a step have a counterpart"), std::string::npos);
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::columns_of(line), 100U) << line;
  const Finished two = interlace("explain --top 2 " + sample("base") + " " + predicted_);
  EXPECT_LT(two.out.size(), run.out.size());
}

TEST_F(ExplainCommand, SaysThatNothingDiffers) {
  const Finished run = interlace("explain " + predicted_ + " " + predicted_);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("nothing differs along the critical path"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("largest first"), std::string::npos) << run.out;
}

TEST_F(ExplainCommand, TellsWhatIsWrongWithEitherTrace) {
  // One of two ranks is given; the prediction comes from both.
  const std::string one = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/base.r0.json.gz";
  const Finished measured = interlace("explain " + one + " " + predicted_);
  EXPECT_NE(measured.out.find("beware     measured trace: ranks of the job"), std::string::npos) << measured.out;
  EXPECT_NE(measured.err.find("measured trace: data quality: 1 warning"), std::string::npos);
  const Finished predicted = interlace("explain " + predicted_ + " " + one);
  EXPECT_NE(predicted.out.find("beware     predicted trace: ranks of the job"), std::string::npos) << predicted.out;
  EXPECT_NE(predicted.err.find("predicted trace: data quality: 1 warning"), std::string::npos);

  const auto json = nlohmann::json::parse(interlace("explain --format json " + predicted_ + " " + one).out);
  const auto has = [&](const char* whose) {
    for (const auto& flaw : json["diagnostics"][whose]) {
      if (flaw["code"] == "ingest.missing_ranks") return true;
    }
    return false;
  };
  EXPECT_TRUE(has("predicted"));
  EXPECT_FALSE(has("measured"));
}

TEST_F(ExplainCommand, WarnsOfAnotherScheduleAndNamesBoth) {
  const Finished same = interlace("explain " + sample("base") + " " + predicted_);
  EXPECT_EQ(same.out.find("explain.other_schedule"), std::string::npos) << same.out;

  const Finished recorded = interlace("explain --format json " + sample("sparse") + " " + predicted_);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_NE(recorded.out.find("torchrec/base, not torchrec/sparse_dist\""), std::string::npos) << recorded.out;
  EXPECT_EQ(recorded.out.find("explain.measured_is_predicted"), std::string::npos);

  const Finished other = interlace("predict --from " + sample("sparse") + " --schedule torchrec/semi_sync --out " +
                                   folder_.path().string());
  ASSERT_EQ(other.status, 0) << other.err;
  const std::string semi_sync = (folder_.path() / "torchrec_semi_sync.ilt").string();
  const Finished table = interlace("explain " + sample("base") + " " + semi_sync);
  EXPECT_NE(table.out.find("explain.other_schedule"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("torchrec/semi_sync, not"), std::string::npos) << table.out;
  EXPECT_NE(table.err.find("predicted trace: data quality: 2 warnings"), std::string::npos) << table.err;
}

// PyTorch's recordings do not say what they were made under.
TEST_F(ExplainCommand, WarnsOfRecordingsOfTwoSchedules) {
  const auto folder_of = [&](const std::string& schedule) {
    const std::filesystem::path folder = folder_.path() / schedule;
    std::filesystem::create_directory(folder);
    std::istringstream files(sample(schedule));
    for (std::string file; files >> file;) std::filesystem::copy(file, folder);
    return folder.string();
  };
  const std::string sparse = folder_of("sparse");
  const Finished other = interlace("explain " + folder_of("base") + " " + sparse);
  EXPECT_NE(other.out.find("torchrec/sparse_dist, not torchrec/base"), std::string::npos) << other.out;
  const Finished same = interlace("explain " + sparse + " " + sparse);
  EXPECT_EQ(same.out.find("explain.other_schedule"), std::string::npos) << same.out;
}

TEST_F(ExplainCommand, WarnsWhereThePredictionLeavesTheRecorderOut) {
  const Finished without = interlace("explain " + sample("base") + " " + predicted_);
  EXPECT_NE(without.out.find("explain.without_recorder"), std::string::npos) << without.out;
  const Finished under = interlace("predict --under-recorder --from " + sample("sparse") +
                                   " --schedule torchrec/base --out " + folder_.path().string());
  ASSERT_EQ(under.status, 0) << under.err;
  const Finished alike = interlace("explain " + sample("base") + " " + (folder_.path() / "torchrec_base.ilt").string());
  EXPECT_EQ(alike.out.find("explain."), std::string::npos) << alike.out;
}

TEST_F(ExplainCommand, WarnsWhereTheMeasuredTraceIsAPrediction) {
  const Finished swapped =
      interlace("explain --format json " + predicted_ + " " + sample("base").substr(0, sample("base").find(' ')));
  ASSERT_EQ(swapped.status, 0) << swapped.err;
  const auto flaws = nlohmann::json::parse(swapped.out)["diagnostics"]["measured"];
  ASSERT_FALSE(flaws.empty());
  EXPECT_EQ(flaws[0]["code"], "explain.measured_is_predicted");
}

TEST_F(ExplainCommand, SaysWhatIsWrong) {
  EXPECT_NE(interlace("explain " + predicted_).status, 0);
  const Finished nothing = interlace("explain /no/such.json " + predicted_);
  EXPECT_EQ(nothing.status, 1);
  EXPECT_TRUE(nothing.err.starts_with("error[ingest.")) << nothing.err;
}

}  // namespace
}  // namespace interlace::cli
