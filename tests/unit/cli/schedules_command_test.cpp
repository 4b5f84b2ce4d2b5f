// `interlace schedules`.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/schedule/library.hpp"
#include "tests/support/file_content.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(SchedulesCommand, ListsShowsAndValidates) {
  const testing::TemporaryFolder folder;
  const Finished list = interlace("schedules");
  EXPECT_EQ(list.status, 0);
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    EXPECT_NE(list.out.find(entry.name), std::string::npos) << entry.name;
    EXPECT_EQ(interlace("schedules show " + std::string(entry.name)).status, 0) << entry.name;
  }
  const std::string mine = folder.write("mine.json", interlace("schedules show --json torchrec/base").out).string();
  EXPECT_EQ(interlace("schedules validate " + mine).status, 0);
  EXPECT_EQ(interlace("schedules validate torchrec/base").out, "torchrec/base: torchrec/base is well-formed\n");
  const std::string broken =
      folder
          .write("broken.json", R"({"interlace_schedule": 1, "name": "x", "streams": {"main": {}}, "iteration": [
    {"stage": "no_such_stage", "batch": 0, "stream": "main"}]})")
          .string();
  for (const char* format : {"", " --format json"}) {
    const Finished run = interlace("schedules validate " + broken + format);
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find("no_such_stage"), std::string::npos) << run.err;
  }
}

// The expected values are those of the library's file.
TEST(SchedulesCommand, ListsForPrograms) {
  const Finished run = interlace("schedules --format json");
  ASSERT_EQ(run.status, 0) << run.err;
  const Json all = Json::parse(run.out)["schedules"];
  ASSERT_EQ(all.size(), schedule::library().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["name"], schedule::library()[i].name);
    const std::vector<std::string> stages = all[i]["stages"];
    EXPECT_EQ(std::set(stages.begin(), stages.end()).size(), stages.size()) << all[i];
  }
  const auto named = [&](std::string_view name) {
    return *std::ranges::find_if(all, [&](const Json& one) { return one["name"] == name; });
  };
  const Json fused = named("torchrec/fused_sparse_dist");
  const Json file = Json::parse(
      testing::content_of(INTERLACE_SOURCE_DIR "/simulator/schedule/library/torchrec/fused_sparse_dist.json"));
  std::string description;
  for (const Json& line : file["description"])
    description += (description.empty() ? "" : " ") + line.get<std::string>();
  EXPECT_EQ(fused["description"], description);
  EXPECT_TRUE(fused["file"].is_null());
  EXPECT_EQ(fused["hazardous"], false);
  EXPECT_EQ(fused["known_hazards"][0]["why"], file["known_hazards"][0]["why"]);
  EXPECT_EQ(fused["batches_ahead"], 2);
  EXPECT_EQ(fused["streams"].size(), file["streams"].size());
  EXPECT_EQ(fused["streams"][2], (Json{{"name", "data_dist"}, {"priority", -1}, {"same_as", nullptr}}));
  EXPECT_EQ(fused["streams"][3], (Json{{"name", "lookup"}, {"priority", 0}, {"same_as", "data_dist"}}));
  EXPECT_EQ(fused["stages"], (Json{"input_dist_finish", "embedding_lookup", "output_dist_start", "zero_grad",
                                   "input_dist_start", "next_batch", "copy_batch_to_gpu", "output_dist_wait",
                                   "dense_forward", "input_dist_wait", "backward", "optimizer_step"}));
}

TEST(SchedulesCommand, SaysOfOneForPrograms) {
  const testing::TemporaryFolder folder;
  const Finished shown = interlace("schedules show torchrec/base --format json");
  EXPECT_EQ(shown.out, interlace("schedules show torchrec/base --json").out);
  EXPECT_EQ(shown.out, interlace("schedules --format json show torchrec/base").out);
  EXPECT_EQ(Json::parse(shown.out)["interlace_schedule"], 1) << "a schedule file";
  const std::string mine = folder.write("mine.json", shown.out).string();
  Json built_in = Json::parse(interlace("schedules validate torchrec/base --format json").out);
  const Json own = Json::parse(interlace("schedules validate --format json " + mine).out);
  EXPECT_TRUE(built_in["file"].is_null());
  EXPECT_EQ(own["file"], mine);
  built_in["file"] = mine;
  EXPECT_EQ(own, built_in);
}

}  // namespace
}  // namespace interlace::cli
