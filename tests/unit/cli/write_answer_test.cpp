// The folder of `predict --out`.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/ingest/file_bytes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

TEST(WriteAnswer, KeepsTheRecordingAndEachPredictionWhateverSchedulesAreCalled) {
  const testing::TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  const Finished shown = interlace("schedules show torchrec/base --json");
  ASSERT_EQ(shown.status, 0) << shown.err;
  std::string files;
  for (const std::string name : {"measured", "torchrec_base"}) {
    auto schedule = nlohmann::ordered_json::parse(shown.out);
    schedule["name"] = name;
    const std::string file = path("my_" + name + ".json");
    std::ofstream(file) << schedule;
    files += " " + file;
  }
  const Finished run =
      interlace("predict --from " + sample("sparse") + " --schedule torchrec/base" + files + " --out " + path("out"));
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* stem : {"torchrec_base", "torchrec_base_2", "measured_2"}) {
    EXPECT_TRUE(std::filesystem::exists(path("out/" + std::string(stem) + ".ilt"))) << stem;
    EXPECT_TRUE(std::filesystem::exists(path("out/" + std::string(stem) + ".perfetto.json.gz"))) << stem;
  }
  EXPECT_FALSE(std::filesystem::exists(path("out/measured.perfetto.json.gz")));
  const Finished recorded = interlace("info " + path("out/measured.ilt"));
  EXPECT_NE(recorded.out.find("33.19"), std::string::npos) << "the recording itself\n" << recorded.out;
}

/// Rank 0 of the sample, whose lookups hold a further range where `prefetches`.
std::string recording_of(const testing::TemporaryFolder& folder, const std::string& name, bool prefetches) {
  const std::filesystem::path file = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/sparse.r0.json.gz";
  const ingest::FileBytes bytes = ingest::inflate(ingest::read_file(file).text(), file, {});
  auto trace = nlohmann::json::parse(bytes.text());
  std::vector<nlohmann::json> further;
  for (const auto& event : trace["traceEvents"]) {
    if (!prefetches || event.value("cat", "") != "user_annotation") continue;
    const std::string label = event["name"];
    if (!label.starts_with("[lookup]_")) continue;
    further.push_back(event);
    further.back()["name"] = "[prefetch]_" + label.substr(sizeof("[lookup]_") - 1);
    further.back()["dur"] = event["dur"].get<double>() / 3;
  }
  for (auto& event : further) trace["traceEvents"].push_back(std::move(event));
  return folder.write(name, trace.dump()).string();
}

// Only one of the two recordings has what prefetch_sparse_dist needs: the mean is of the schedules that both tell of.
TEST(WriteAnswer, KeepsEachTraceWithItsRowWhereARecordingLacksASchedule) {
  const testing::TemporaryFolder folder;
  std::ifstream in(INTERLACE_SOURCE_DIR "/simulator/stages/profiles/torchrec.json");
  auto profile = nlohmann::json::parse(in);
  profile["name"] = "mine";
  profile["rules"].insert(profile["rules"].begin(), nlohmann::json::parse(R"({
    "stage": "prefetch", "within": ["^\\[prefetch\\]_"],
    "module": {"enclosing": "^\\[prefetch\\]_\\[(.+?)\\]"}})"));
  const std::string predict = "predict --steps 3 --profile " + folder.write("profile.json", profile.dump()).string() +
                              " --schedule all --out " + (folder.path() / "out").string() + " --from " +
                              recording_of(folder, "first.json", true) + " --again " +
                              recording_of(folder, "second.json", false);
  const Finished run = interlace(predict);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/torchrec_prefetch_sparse_dist.ilt"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/torchrec_staged.ilt")) << "behind it in the library";
}

// What cutting and replaying a recording find is found again, and not of the file.
TEST(WriteAnswer, TellsNoFlawOfTheMeasuredTraceTwice) {
  const testing::TemporaryFolder folder;
  const std::string predict = "predict --format json --steps 5 --schedule torchrec/base ";
  const auto flaws = [](const Finished& run) {
    const auto answer = nlohmann::json::parse(run.out);
    std::map<std::string, std::int64_t> counts;
    for (const auto& flaw : answer["recorded"]["diagnostics"]) counts[flaw["code"]] = flaw["count"];
    return counts;
  };
  const std::string rank0 = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/sparse.r0.json.gz";
  const auto first = flaws(interlace(predict + rank0 + " --out " + (folder.path() / "out").string()));
  EXPECT_TRUE(first.contains("replay.collective_without_peers"));
  EXPECT_EQ(flaws(interlace(predict + (folder.path() / "out/measured.ilt").string())), first);
}

// Before anything is read: the recording is not there. /proc is written to by nobody, root neither.
TEST(WriteAnswer, RefusesAFolderBeforeWorkBegins) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("file", "").string();
  for (const std::string& command : {std::string("predict --schedule torchrec/base"), std::string("search")}) {
    for (const std::string& out : {file, file + "/new", std::string("/proc/interlace/new")}) {
      const Finished run = interlace(command + " --from /no/recording --out " + out);
      EXPECT_EQ(run.status, 1);
      EXPECT_TRUE(run.err.starts_with("error[report.cannot_write]: " + out)) << run.err;
    }
    const Finished good = interlace(command + " --from /no/recording --out " + (folder.path() / "new/deeper").string());
    EXPECT_NE(good.err.find("error[ingest.cannot_open]: /no/recording"), std::string::npos) << good.err;
  }
  std::filesystem::remove(file);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing was predicted, so nothing is left";
  const Finished own = interlace("predict --schedule torchrec/base --from /no/recording --profile " +
                                 folder.write("report.json", "{}").string() + " --out " + folder.path().string());
  EXPECT_TRUE(own.err.starts_with("error[cli.output_is_input]: ")) << own.err;
}

TEST(WriteAnswer, LeavesWhatItReadAsItIs) {
  const testing::TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  const auto content = [](const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  ASSERT_EQ(interlace("convert " + sample("base") + " -o " + path("measured.ilt")).status, 0);
  const std::string before = content(path("measured.ilt"));
  const std::string predict = "predict --schedule torchrec/base --steps 3 --out " + folder.path().string() + " --from ";
  for (const std::string& recording : {path("measured.ilt"), folder.path().string()}) {
    const Finished run = interlace(predict + recording);
    EXPECT_EQ(run.status, 1) << run.out;
    EXPECT_TRUE(run.err.find("error[cli.output_is_input]: " + path("measured.ilt")) != std::string::npos) << run.err;
  }
  EXPECT_EQ(content(path("measured.ilt")), before);
  EXPECT_FALSE(std::filesystem::exists(path("report.json")));
}

}  // namespace
}  // namespace interlace::cli
