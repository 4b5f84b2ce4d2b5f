#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

const std::string kBase = INTERLACE_SOURCE_DIR "/samples/traces/engine_exposed/base";

TEST(SearchCommand, WritesWhatItFindsAndPredictsIt) {
  const testing::TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const Finished run = interlace("search " + kBase + " --start sparse_dist --tries 120 --out " + out);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("and what leads to it from torchrec/base:"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("of which 120 were simulated"), std::string::npos) << run.err;
  std::size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || name == "report.json") continue;
    ++kept;
    const Finished checked = interlace("check " + entry.path().string());
    EXPECT_EQ(checked.status, 0) << checked.out;
    EXPECT_NE(run.out.find("found/" + entry.path().stem().string()), std::string::npos) << run.out;
  }
  EXPECT_GT(kept, 0U);
}

TEST(SearchCommand, CutsALongNameOfAStart) {
  const testing::TemporaryFolder folder;
  std::string text = interlace("schedules show torchrec/sparse_dist --format json").out;
  const std::string name = "\"torchrec/sparse_dist\"";
  text.replace(text.find(name), name.size(), "\"own/" + std::string(124, 'x') + "\"");
  const std::string start = (folder.path() / "long.json").string();
  std::ofstream(start) << text;
  const Finished run =
      interlace("search " + kBase + " --start " + start + " --tries 120 --out " + (folder.path() / "out").string());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("found/xxx"), std::string::npos) << run.out;
}

TEST(SearchCommand, SaysWhereARecordingStands) {
  const Finished run = interlace("search --out x");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("no recording is named: it stands in front"), std::string::npos) << run.err;
}

TEST(SearchCommand, SaysWhereNothingIsFaster) {
  const testing::TemporaryFolder folder;
  const Finished run = interlace("search " + kBase + " --start base --tries 1 --out " + folder.path().string());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.rfind("no schedule was found that is faster\n", 0), 0U) << run.out;
}

}  // namespace
}  // namespace interlace::cli
