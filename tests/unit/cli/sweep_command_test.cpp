#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/file_content.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

const std::string kEdits = INTERLACE_SOURCE_DIR "/samples/edits/";

nlohmann::json answer_of(const std::string& arguments) {
  const Finished run = interlace(arguments + " --format json");
  EXPECT_EQ(run.status, 0) << run.err;
  return run.status == 0 ? nlohmann::json::parse(run.out) : nlohmann::json();
}

nlohmann::json swept(const std::string& edit, const std::string& by, const std::string& more = "") {
  return answer_of("sweep " + sample("sparse") + " --schedule base fused_sparse_dist --edit " + edit + " --by " + by +
                   more);
}

/// What predict says of the schedules, by name.
std::map<std::string, nlohmann::json> predicted(const std::string& more) {
  std::map<std::string, nlohmann::json> all;
  const nlohmann::json answer =
      answer_of("predict " + sample("sparse") + " --schedule sparse_dist base fused_sparse_dist" + more);
  for (const nlohmann::json& one : answer["predictions"]) all[one["schedule"]] = one;
  return all;
}

void expect_same(const nlohmann::json& sweep, std::size_t value, const std::map<std::string, nlohmann::json>& alone) {
  ASSERT_EQ(sweep["schedules"].size(), alone.size());
  for (const nlohmann::json& one : sweep["schedules"]) {
    const nlohmann::json& point = one["points"][value];
    const nlohmann::json& other = alone.at(one["schedule"]);
    for (const char* field :
         {"step_time_ns", "step_time_low_ns", "step_time_high_ns", "speedup", "exposed_communication_ns"}) {
      EXPECT_EQ(point[field], other[field]) << one["schedule"] << ' ' << field;
    }
    EXPECT_EQ(point["idle_ns"], other["overlap"]["idle_ns"]) << one["schedule"];
    EXPECT_EQ(point["host_blocked_ns"], other["overlap"]["host_blocked_ns"]) << one["schedule"];
  }
}

TEST(SweepCommand, PredictsAtOneWhatIsPredictedWithoutTheEdit) {
  const auto alone = predicted("");
  expect_same(swept(kEdits + "link_bandwidth.json", "0.5,1"), 1, alone);
  expect_same(swept(kEdits + "host_speed.json", "1,2"), 0, alone);
}

TEST(SweepCommand, PredictsAtAValueWhatIsPredictedWithThatEdit) {
  const std::string measured = " --measured-step-ms 34.26";  // corrects both alike
  const nlohmann::json sweep = swept(kEdits + "link_bandwidth.json", "0.25,0.5", measured);
  expect_same(sweep, 1, predicted(" --edit " + kEdits + "link_bandwidth.json" + measured));
  ASSERT_EQ(sweep["schedules"].size(), 3U);
  EXPECT_EQ(sweep["schedules"][0]["schedule"], "torchrec/sparse_dist");  // without being asked for
  EXPECT_EQ(sweep["schedules"][0]["recorded"], true);
  // Slower links cost time.
  for (const nlohmann::json& one : sweep["schedules"]) {
    EXPECT_GT(one["points"][0]["step_time_ns"], one["points"][1]["step_time_ns"]);
    EXPECT_LT(one["cost"], 0);
  }
}

TEST(SweepCommand, TellsWhereTheFusedPipelineOvertakes) {
  const Finished run = interlace("sweep " + sample("sparse") + " --schedule base fused_sparse_dist --edit " + kEdits +
                                 "longer_optimizer.json --by 1:300:3");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("sweep     optimizer_step takes x times as long on the device\n"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("  17.32  "), std::string::npos) << run.out;  // the root of 300
  EXPECT_NE(run.out.find("fused_sparse_dist overtakes sparse_dist\n"), std::string::npos) << run.out;
}

TEST(SweepCommand, SweepsHowLongAGivenStageTakes) {
  const nlohmann::json sweep = answer_of("sweep " + sample("sparse") + " --schedule prefetch_sparse_dist --edit " +
                                         kEdits + "prefetch.json --by 100:20000:2");
  EXPECT_EQ(sweep["swept"]["unit"], "microseconds");
  EXPECT_EQ(sweep["swept"]["around"], 500);
  const nlohmann::json& points = sweep["schedules"][1]["points"];
  EXPECT_GT(points[1]["step_time_ns"], points[0]["step_time_ns"]);
}

TEST(SweepCommand, WritesAFolder) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "new" / "out";
  const Finished run = interlace("sweep " + sample("sparse") + " --schedule base --edit " + kEdits +
                                 "host_speed.json --by 1,2 --format csv --out " + out.string());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(testing::content_of(out / "sweep.csv"), run.out);
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 1 + 2 * 2);
  EXPECT_EQ(nlohmann::json::parse(testing::content_of(out / "report.json"))["schedules"].size(), 2U);
  EXPECT_TRUE(testing::content_of(out / "sweep.svg").starts_with("<svg xmlns="));
}

TEST(SweepCommand, DoesNotWriteOverWhatItReads) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path edit = folder.path() / "report.json";
  std::filesystem::copy_file(kEdits + "host_speed.json", edit);
  const Finished run = interlace("sweep " + sample("sparse") + " --schedule base --edit " + edit.string() +
                                 " --by 1 --out " + folder.path().string());
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("error[cli.output_is_input]"), std::string::npos) << run.err;
  EXPECT_EQ(testing::content_of(edit), testing::content_of(kEdits + "host_speed.json"));
}

TEST(SweepCommand, RefusesWhatItCannotSweep) {
  const std::string begin = "sweep " + sample("sparse") + " --schedule base ";
  const auto error_of = [&](const std::string& rest, int status) {
    const Finished run = interlace(begin + rest);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  const std::string both = error_of("--by 1,2 --edit " + kEdits + "slower_machine.json", 1);
  EXPECT_NE(both.find("error[what_if.unclear_sweep]"), std::string::npos) << both;
  EXPECT_NE(both.find("\"swept\": true"), std::string::npos) << both;
  const std::string none = error_of("--by 1,2 --edit " + kEdits + "no_host_read.json", 1);
  EXPECT_NE(none.find("error[what_if.unclear_sweep]"), std::string::npos) << none;
  const std::string values = error_of("--by 1,fast --edit " + kEdits + "host_speed.json", 1);
  EXPECT_NE(values.find("error[what_if.bad_sweep]: --by: \"fast\" is no number"), std::string::npos) << values;
  EXPECT_NE(error_of("--edit " + kEdits + "host_speed.json", 2).find("--by is required"), std::string::npos);
  EXPECT_NE(error_of("--by 1", 2).find("--edit is required"), std::string::npos);
}

TEST(SweepCommand, MakesTheOtherEditsAtAllValues) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "edits.json";
  std::ofstream(file) << R"({"interlace_edits": 1, "edits": [{"scale": {"link": "gpu"}, "by": 0.5},
    {"scale": {"host": true}, "by": 3, "swept": true}]})";
  const nlohmann::json sweep = swept(file.string(), "1");
  expect_same(sweep, 0, predicted(" --edit " + kEdits + "link_bandwidth.json"));
  ASSERT_EQ(sweep["recorded"]["edits"].size(), 1U);
  EXPECT_EQ(sweep["recorded"]["edits"][0], "the link between GPUs has 0.5 times the bandwidth");
}

}  // namespace
}  // namespace interlace::cli
