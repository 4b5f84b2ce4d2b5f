#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/report/text.hpp"
#include "tests/support/file_content.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

const std::filesystem::path kCampaign = INTERLACE_SOURCE_DIR "/tests/unit/cli/campaign";

using testing::content_of;

// A campaign of the engine on a CPU, without its recordings: the figures come out of the kept files alone.
class ValidateReport : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::copy(kCampaign, at(), std::filesystem::copy_options::recursive); }
  [[nodiscard]] std::filesystem::path at() const { return folder_.path() / "campaign"; }

  testing::TemporaryFolder folder_;
};

TEST_F(ValidateReport, IsMadeAnewFromFiles) {
  const Finished run = interlace("validate --format json --report " + at().string());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, content_of(at() / "report.json"));
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_GE(json["schedules"].size(), 2U);
  // By hand, from the files.
  for (const auto& row : json["schedules"]) {
    std::vector<double> steps;
    for (const auto& file : std::filesystem::directory_iterator(at() / "runs")) {
      const auto one = nlohmann::json::parse(content_of(file.path()));
      if (one["schedule"] == row["schedule"]) steps.push_back(one["step_ms"].get<double>());
    }
    std::ranges::sort(steps);
    ASSERT_EQ(steps.size(), row["runs"].get<std::size_t>());
    const double median = (steps[(steps.size() - 1) / 2] + steps[steps.size() / 2]) / 2;
    EXPECT_DOUBLE_EQ(row["measured_ms"].get<double>(), median);
  }
  EXPECT_EQ(json["prediction_sha256"].get<std::string>() + "  prediction.json\n",
            content_of(at() / "prediction.sha256"));
}

TEST_F(ValidateReport, PrintsATableThatFitsATerminal) {
  const Finished run = interlace("validate --report " + at().string());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("order right for"), std::string::npos);
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::columns_of(line), 100U) << line;
}

TEST_F(ValidateReport, RefusesAChangedPrediction) {
  std::string text = content_of(at() / "prediction.json");
  text.replace(text.find("\"step_ms\": "), 12, "\"step_ms\": 1");
  std::ofstream(at() / "prediction.json", std::ios::binary) << text;
  const Finished run = interlace("validate --report " + at().string());
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(run.err.starts_with("error[campaign.prediction_changed]")) << run.err;
}

TEST(Validate, LeavesNoFolderWithoutAnEngine) {
  const testing::TemporaryFolder folder;
  const std::string out = (folder.path() / "new").string();
  const Finished run = interlace("validate --workload t6 --engine /no/engine --out " + out);
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(run.err.starts_with("error[cli.part_not_built]: /no/engine")) << run.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

/// What `validate` finds on a machine: an engine that records or not, and the driver's program.
class ValidateOnMachine : public ::testing::Test {
 protected:
  void put(const std::string& program, const std::string& does) const {
    std::filesystem::permissions(folder_.write(program, "#!/bin/sh\n" + does + "\n"),
                                 std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] Finished begin(const std::string& variables, const std::string& program = INTERLACE_BINARY) const {
    return testing::run_program("PATH=" + folder_.path().string() + " " + variables + " " + program +
                                " validate --workload tiny --engine " + at("engine") + " --out " + at("new"));
  }
  [[nodiscard]] std::string hardware() const {
    return nlohmann::json::parse(content_of(at("new/plan.json")))["hardware"].dump();
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ValidateOnMachine, LeavesNoFolderWithoutAGpu) {
  put("engine", "echo --record");
  const auto refused = [&](const std::string& variables, const std::string& why) {
    const Finished run = begin(variables);
    EXPECT_EQ(run.status, 1);
    EXPECT_TRUE(run.err.starts_with("error[cli.no_gpu]: " + why)) << run.err;
    EXPECT_FALSE(std::filesystem::exists(at("new")));
  };
  const auto has_device = [](const char* file) { return std::filesystem::exists(file); };
  if (!has_device("/dev/nvidiactl") && !has_device("/dev/dxg")) refused("", "nvidia-smi: there is no driver");
  put("nvidia-smi", "echo NVIDIA-SMI has failed; exit 9");
  refused("", "nvidia-smi: NVIDIA-SMI has failed");
  put("nvidia-smi", "exit 0");
  refused("", "nvidia-smi: it knows of no GPU");
  put("nvidia-smi", "echo 'NVIDIA X, 1, 2 MiB'");
  refused("CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=: no GPU is visible");
}

TEST_F(ValidateOnMachine, LeavesNoFolderWithoutARecorder) {
  std::filesystem::copy_file(INTERLACE_BINARY, at("interlace"));  // nothing lies beside it
  put("engine", "echo --steps");
  put("nvidia-smi", "echo 'NVIDIA X, 1, 2 MiB'");
  const Finished run = begin("", at("interlace"));
  EXPECT_TRUE(run.err.starts_with("error[cli.part_not_built]: " + at("interlace-record"))) << run.err;
  EXPECT_FALSE(std::filesystem::exists(at("new")));
}

TEST_F(ValidateOnMachine, KeepsWhichGpusThereAre) {
  put("engine", "[ \"$2\" = --help ] && echo --record");
  put("nvidia-smi", "echo 'NVIDIA X, 1, 2 MiB'");
  EXPECT_TRUE(begin("").err.find("error[cli.engine_failed]") != std::string::npos) << "this engine records nothing";
  EXPECT_EQ(hardware(), R"(["NVIDIA X, 1, 2 MiB"])");
  std::filesystem::remove_all(at("new"));
  put("nvidia-smi", "case \"$*\" in *--id=MIG-1*) exit 6 ;; esac; echo 'NVIDIA X, 1, 2 MiB'");
  EXPECT_TRUE(begin("CUDA_VISIBLE_DEVICES=MIG-1").err.find("error[cli.engine_failed]") != std::string::npos);
  EXPECT_EQ(hardware(), "[]") << "CUDA knows parts of GPUs that the driver's program does not";
}

TEST(Validate, SaysWhatIsMissing) {
  const testing::TemporaryFolder folder;
  const std::string out = " --out " + (folder.path() / "new").string();
  EXPECT_TRUE(interlace("validate --workload tiny").err.starts_with("error[cli.not_planned]"));
  EXPECT_TRUE(interlace("validate" + out).err.starts_with("error[cli.not_planned]: --workload"));
  EXPECT_TRUE(
      interlace("validate --workload tiny --device cpu" + out).err.starts_with("error[cli.not_planned]: --device"));
  EXPECT_TRUE(interlace("validate --workload tiny --record nothing" + out).err.starts_with("error[schedule.no_such"));
  EXPECT_TRUE(interlace("validate --workload tiny --env X" + out).err.starts_with("error[cli.not_planned]: --env"));
  EXPECT_EQ(interlace("validate --workload tiny --from x --recordings 2" + out).status,
            2);  // it would be one recording
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "new"));
  EXPECT_TRUE(interlace("validate --resume " + folder.path().string()).err.starts_with("error[c"));
  EXPECT_TRUE(interlace("validate --report " + folder.path().string()).err.starts_with("error[campaign.bad_folder]"));
}

// A profile stands in for what the recording does not tell, and the answer says which is which.
TEST(PredictWithMachine, SaysWhereValuesComeFrom) {
  const testing::TemporaryFolder folder;
  const auto profile = folder.write("m.json", R"({"interlace_machine": 1, "latencies":
    {"launch_to_seen_by_host_us": 40, "across_streams_us": 30}})");
  const std::string predict = "predict --format json --schedule torchrec/base --from " + sample("sparse");
  const auto without = nlohmann::json::parse(interlace(predict).out);
  const auto with = nlohmann::json::parse(interlace(predict + " --machine " + profile.string()).out);
  EXPECT_TRUE(without["recorded"]["machine"]["profile"].is_null());
  EXPECT_EQ(with["recorded"]["machine"]["profile"], profile.string());
  const std::vector<std::string> taken = with["recorded"]["machine"]["from_profile"];
  EXPECT_EQ(taken, std::vector<std::string>{"launch latency 40 us"}) << "waits are seen in the recording";
  const std::vector<std::string> seen = with["recorded"]["machine"]["from_recording"];
  EXPECT_NE(std::ranges::find(seen, "wait latency"), seen.end());
  // base launches much on idle streams: a latency of several times the usual must show.
  EXPECT_GT(with["predictions"][0]["step_time_ns"].get<double>(),
            1.01 * without["predictions"][0]["step_time_ns"].get<double>());
  const Finished told =
      interlace("predict --schedule torchrec/base --from " + sample("sparse") + " --machine " + profile.string());
  EXPECT_NE(told.err.find("launch latency 40 us"), std::string::npos) << told.err;
  EXPECT_TRUE(interlace(predict + " --machine /no/such.json").err.starts_with("error[contention.bad_machine_profile]"));
}

TEST(PredictWithMachine, WarnsOfTheProfileOfAnotherMachine) {
  const testing::TemporaryFolder folder;
  const std::string predict = "predict --steps 3 --schedule torchrec/base --from " + sample("sparse") + " --machine ";
  const auto told = [&](const std::string& hardware, const std::string& quick) {
    const auto profile = folder.write(
        "m.json", R"({"interlace_machine": 1, "quick": )" + quick + R"(, "hardware": {"gpu": ")" + hardware + "\"}}");
    return interlace(predict + profile.string(), "300").err;
  };
  const std::string good = told("NVIDIA H200", "false");
  EXPECT_EQ(good.find("predict."), std::string::npos) << good;
  const std::string other = told("Tesla T4", "false");
  EXPECT_NE(other.find("predict.other_machine"), std::string::npos) << other;
  EXPECT_NE(other.find("Tesla T4, not NVIDIA H200"), std::string::npos) << other;
  EXPECT_NE(told("NVIDIA H200", "true").find("predict.quick_profile"), std::string::npos);
}

}  // namespace
}  // namespace interlace::cli
