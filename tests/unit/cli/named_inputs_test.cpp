#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(NamedInputs, AScheduleIsMeantByTheLastPartOfItsName) {
  const auto same_as_by_whole_name = [](const std::string& command, const std::string& name) {
    const Finished by_part = interlace(command + name);
    EXPECT_EQ(by_part.status, 0) << by_part.err;
    EXPECT_EQ(by_part.out, interlace(command + "torchrec/" + name).out) << command;
  };
  same_as_by_whole_name("check ", "sparse_dist");
  same_as_by_whole_name("schedules show ", "semi_sync");
  same_as_by_whole_name("predict --steps 3 --from " + sample("base") + " --schedule ", "staged");
  EXPECT_NE(interlace("schedules validate base").out.find("torchrec/base is well-formed"), std::string::npos);
  const Finished unknown = interlace("check sparse_dst");
  EXPECT_NE(unknown.err.find("did you mean \"torchrec/sparse_dist\""), std::string::npos) << unknown.err;
}

// Both need a recording; CLI11 gives what stands behind --schedule to it.
TEST(NamedInputs, PredictTakesRecordingsWhereOtherCommandsDo) {
  const testing::TemporaryFolder folder;
  std::filesystem::copy_file(INTERLACE_SOURCE_DIR "/simulator/schedule/library/torchrec/staged.json",
                             folder.path() / "staged");
  const std::string own = (folder.path() / "staged").string();  // without an ending
  const std::string options = "predict --format json --steps 3 ";
  const Finished from = interlace(options + "--schedule torchrec/base " + own + " --from " + sample("sparse"));
  ASSERT_EQ(from.status, 0) << from.err;
  for (const std::string& words : {sample("sparse") + " --schedule torchrec/base " + own,
                                   "--schedule torchrec/base " + own + " " + sample("sparse")}) {
    const Finished run = interlace(options + words);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.out, from.out) << words;
  }
}

// Here a folder is called as a schedule is, as that of its recording often is.
TEST(NamedInputs, AFolderOfAScheduleNameIsNoRecordingOfPredict) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "base");
  const std::string ask = "cd " + folder.path().string() + " && " INTERLACE_BINARY " predict --format json --steps 3 ";
  const Finished run = testing::run_program(ask + "--from " + sample("sparse") + " --schedule base");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["predictions"][0]["schedule"], "torchrec/base");
}

TEST(NamedInputs, AProfileIsNamedAsTheBuiltInOneIs) {
  const std::string runs = INTERLACE_SOURCE_DIR "/samples/traces/engine_exposed_1_rank/";
  const std::string predict = "predict --steps 3 --format json --schedule base " + runs + "sparse_dist";
  const Finished named = interlace(predict + " --profile interlace");
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_EQ(named.out, interlace(predict).out);
  const std::string check = "check " + runs + "sparse_dist";
  EXPECT_EQ(interlace(check + " --profile interlace").status, 0);
  for (const std::string& command : {predict, check}) {
    const Finished other = interlace(command + " --profile torchrec");
    EXPECT_NE(other.err.find("error[stages.no_iterations]"), std::string::npos) << other.err;
  }
  const Finished explain = interlace("explain --profile torchrek " + sample("sparse"));
  EXPECT_NE(explain.err.find("did you mean \"torchrec\""), std::string::npos) << explain.err;
}

TEST(NamedInputs, PredictSaysWhereARecordingStands) {
  const auto said = [](const std::string& words) {
    const Finished run = interlace("predict " + words);
    EXPECT_EQ(run.status, 2) << words;
    return run.err;
  };
  EXPECT_NE(said("--schedule all").find("no recording is named: it stands in front"), std::string::npos);
  EXPECT_NE(said("x.ilt").find("--schedule is required"), std::string::npos);
  EXPECT_NE(said("--schedule x.ilt").find("--schedule x.ilt: that is no schedule"), std::string::npos);
}

}  // namespace
}  // namespace interlace::cli
