#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/file_content.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using testing::content_of;

nlohmann::json read(const std::filesystem::path& file) { return nlohmann::json::parse(content_of(file)); }

// How a campaign is carried out, with a program in the engine's place that notes how it was called: what the engine
// does then is for ValidateWithEngine.
class ValidateCampaign : public ::testing::Test {
 protected:
  ValidateCampaign() {
    engine("");
    const std::string recorded = at("recorded");
    EXPECT_EQ(interlace("predict --from " + sample("sparse") + " --schedule torchrec/base --out " + recorded).status,
              0);
    begin_ = "validate --workload tiny --device cpu --repeats 2 --steps 20 --from " + recorded +
             "/measured.ilt --out " + at("campaign") + " --engine " + at("engine");
    resume_ = "validate --resume " + at("campaign") + " --engine " + at("engine");
  }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  /// first: what the engine does before anything else.
  void engine(const std::string& first) const {
    const auto file = folder_.write("engine", "#!/bin/bash\n" + first + R"(
if [ "$2" = "--help" ]; then echo "--no-digest --cooldown"; exit 0; fi
echo "$@" >> )" + at("calls") + R"(
while [ $# -gt 0 ]; do case "$1" in --schedule) schedule=$2 ;; esac; shift; done
echo '{"schedule": "'"$schedule"'", "timed_steps": 20, "seconds": 0.5,
       "ranks": [{"peak_allocated_bytes": 1, "peak_reserved_bytes": 1}]}'
)");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string calls() const { return content_of(at("calls")); }

  /// A schedule file with the steps of base.
  [[nodiscard]] std::string schedule_named(const std::string& name, const std::string& file) const {
    nlohmann::json schedule = read(INTERLACE_SOURCE_DIR "/simulator/schedule/library/torchrec/base.json");
    schedule["name"] = name;
    return folder_.write(file, schedule.dump()).string();
  }

  testing::TemporaryFolder folder_;
  std::string begin_;
  std::string resume_;
};

// What bears the name of a built-in schedule and is another runs as what it is.
TEST_F(ValidateCampaign, RunsTheScheduleThatItPredicts) {
  const std::string mine = schedule_named("torchrec/semi_sync", "mine.json");
  const Finished run = interlace(begin_ + " --schedules semi_sync," + mine);
  ASSERT_EQ(run.status, 0) << run.err;
  std::set<std::string> predicted;
  const nlohmann::json prediction = read(at("campaign/prediction.json"));
  for (const auto& row : prediction["schedules"]) predicted.insert(row["schedule"]);
  EXPECT_EQ(predicted,
            (std::set<std::string>{"torchrec/sparse_dist", "torchrec/semi_sync", "torchrec/semi_sync+mine"}));
  EXPECT_NE(calls().find("--schedule torchrec/semi_sync "), std::string::npos);
  EXPECT_NE(calls().find("campaign/inputs/schedules/torchrec_semi_sync+mine.json "), std::string::npos);
}

// Files that the plan names are those of the beginning, from wherever it goes on.
TEST_F(ValidateCampaign, KeepsItsInputs) {
  const std::string mine = schedule_named("own/mine", "mine.json");
  const std::string workload = folder_.write("w.json", "{}").string();
  const std::string begin = "validate --workload " + workload + begin_.substr(begin_.find(" --device"));
  ASSERT_EQ(interlace(begin + " --schedules " + mine + " --minutes 0.01").status, 3);
  std::filesystem::remove(mine);
  std::filesystem::remove(workload);
  const Finished run = testing::run_program("cd / && " INTERLACE_BINARY " " + resume_);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(calls().find("--workload " + at("campaign/inputs/workload/w.json")), std::string::npos);
  EXPECT_NE(calls().find("--schedule " + at("campaign/inputs/schedules/own_mine.json")), std::string::npos);
}

TEST_F(ValidateCampaign, DoesADeletedRunAgainAndNoOther) {
  ASSERT_EQ(interlace(begin_ + " --schedules base").status, 0);
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(at("campaign/runs")), {}), 4);
  const nlohmann::json deleted = read(at("campaign/runs/001.json"));
  const nlohmann::json last = read(at("campaign/runs/003.json"));
  std::filesystem::remove(at("campaign/runs/001.json"));
  ASSERT_EQ(interlace(resume_).status, 0);
  EXPECT_EQ(read(at("campaign/runs/003.json")), last);
  EXPECT_EQ(read(at("campaign/runs/004.json")), deleted);
}

TEST_F(ValidateCampaign, PredictsNothingThatWasMeasured) {
  ASSERT_EQ(interlace(begin_ + " --schedules base").status, 0);
  std::filesystem::remove(at("campaign/prediction.json"));
  const Finished run = interlace(resume_);
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(run.err.starts_with("error[campaign.prediction_changed]")) << run.err;
  EXPECT_FALSE(std::filesystem::exists(at("campaign/prediction.json")));
}

TEST_F(ValidateCampaign, GoesOnWithTheSameEngineAndSettings) {
  ASSERT_EQ(interlace(begin_ + " --schedules base --minutes 0.01").status, 3);
  const auto code = [&](const std::string& variables) {
    const std::string err = testing::run_program(variables + " " INTERLACE_BINARY " " + resume_).err;
    return err.substr(0, err.find(':'));
  };
  EXPECT_EQ(code("NCCL_TOPO_FILE=/t.xml"), "error[cli.other_settings]");
  EXPECT_EQ(testing::run_program("CUDA_HOME=/cuda " INTERLACE_BINARY " " + resume_ + " --minutes 0.01").status, 3);
  engine("# another\n");
  EXPECT_EQ(code(""), "error[cli.other_settings]");
}

TEST_F(ValidateCampaign, FailsWhereTheRecordedScheduleNeverRan) {
  engine("if [[ \"$*\" == *sparse_dist* ]]; then echo 'error[engine.no]: no' >&2; exit 1; fi");
  const Finished run = interlace(begin_ + " --schedules base");
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_NE(run.out.find("engine.no"), std::string::npos) << run.out;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(at("campaign/runs")), {}), 3);
}

// What the others have measured is judged.
TEST_F(ValidateCampaign, KeepsARunThatWroteNoReportAsAFailure) {
  engine("if [[ \"$*\" == *torchrec/base* ]]; then echo 'NCCL version 2.28.9'; fi");
  const Finished run = interlace(begin_ + " --schedules base");
  EXPECT_EQ(run.status, 0) << run.err;
  int failures = 0;
  for (const auto& file : std::filesystem::directory_iterator(at("campaign/runs"))) {
    const nlohmann::json measured = read(file.path());
    if (!measured.contains("failure")) continue;
    ++failures;
    EXPECT_EQ(measured["schedule"], "torchrec/base");
    EXPECT_NE(measured["failure"].get<std::string>().find("not what interlace-engine run writes"), std::string::npos);
  }
  EXPECT_EQ(failures, 1);
}

TEST_F(ValidateCampaign, RefusesWordsThatMeanNothingThere) {
  EXPECT_EQ(interlace(resume_ + " --repeats 7").status, 2);
  EXPECT_EQ(interlace(resume_ + " --out " + at("other")).status, 2);
  EXPECT_EQ(interlace("validate --report " + at("campaign") + " --repredict " + at("campaign")).status, 2);
  EXPECT_EQ(interlace("validate --report " + at("campaign") + " --minutes 3").status, 2);
}

}  // namespace
}  // namespace interlace::cli
