#include "engine/workload/workload.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/error_text.hpp"

namespace interlace::engine {
namespace {

using Json = nlohmann::json;

Json tiny() { return Json::parse(load_workload("tiny").name == "tiny" ? workload_library()[0].text : ""); }

std::string refusal(const Json& json) {
  return testing::error_text([&] { static_cast<void>(parse_workload(json.dump(), "mine.json")); });
}

TEST(Workload, LibraryHoldsEveryFileOfItsFolderUnderItsName) {
  std::set<std::string> files;
  const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "engine/workload/library";
  for (const auto& file : std::filesystem::directory_iterator(folder)) files.insert(file.path().stem().string());
  std::set<std::string> built_in;
  for (const WorkloadEntry& entry : workload_library()) {
    built_in.insert(std::string(entry.name));
    EXPECT_EQ(load_workload(std::string(entry.name)).name, entry.name);
  }
  EXPECT_EQ(built_in, files);
}

// The shapes that the recorded traces and the benchmarks were run with.
TEST(Workload, NamedShapesAreThoseOfTheirSources) {
  const Workload seed = load_workload("torchrec-2916");
  EXPECT_EQ(seed.ranks, 2);
  EXPECT_EQ(seed.batch, 8192);
  ASSERT_EQ(seed.modules.size(), 2U);
  for (const ModuleSpec& module : seed.modules) {
    EXPECT_EQ(module.tables, std::vector<TableSpec>(100, {.rows = 100'000, .dim = 512, .pooling = 10}));
  }
  const Workload t9 = load_workload("t9");
  EXPECT_EQ(t9.ranks, 4);
  EXPECT_EQ(t9.modules[1].tables.size(), 40U);
  EXPECT_EQ(t9.modules[1].tables[0].sharding, Sharding::kRowWise);
  const Workload message = load_workload("a2a-3436");
  EXPECT_EQ(message.message->elements, 100 * 2048 * 2048);
  EXPECT_FALSE(message.dense);
  const Workload inplace = load_workload("inplace-3526");
  // Ids of 8 bytes for 170 features: 32768 * 170 * 30 * 8 = 1.3 GB.
  EXPECT_GT(inplace.batch * 170 * inplace.modules[0].tables[0].pooling * 8, 1'000'000'000);
}

TEST(Workload, RefusesWhatItCannotUnderstand) {
  Json json = tiny();
  json["colour"] = 1;
  EXPECT_EQ(refusal(json),
            "error[engine.bad_workload]: mine.json: has an unknown field \"colour\" (docs/engine.md "
            "lists the fields of a workload)");
  json = tiny();
  json.erase("batch");
  EXPECT_NE(refusal(json).find("lacks \"batch\""), std::string::npos) << refusal(json);
  json = tiny();
  json["batch"] = 1.5;
  EXPECT_NE(refusal(json).find("\"batch\" that is no whole number from 1 to"), std::string::npos) << refusal(json);
  json = tiny();
  json["modules"][0]["tables"][0]["sharding"] = "diagonal";
  EXPECT_NE(refusal(json).find("has the sharding \"diagonal\"; known are table_wise, row_wise, column_wise"),
            std::string::npos)
      << refusal(json);
  json = tiny();
  json["modules"][1]["name"] = "unweighted";
  EXPECT_NE(refusal(json).find("two modules \"unweighted\""), std::string::npos) << refusal(json);
  json = tiny();
  json["modules"][0]["tables"] = Json::array();
  EXPECT_NE(refusal(json).find("has no tables"), std::string::npos) << refusal(json);
  json = tiny();
  json["feature_processors"] = true;
  EXPECT_NE(refusal(json).find("cannot weigh the row-wise tables of module \"unweighted\""), std::string::npos)
      << refusal(json);
  json = tiny();
  json["interlace_workload"] = 2;
  EXPECT_NE(refusal(json).find("interlace_workload"), std::string::npos) << refusal(json);
  EXPECT_THROW(static_cast<void>(parse_workload("{", "mine.json")), Error);
  EXPECT_THROW(static_cast<void>(parse_workload("{\"dense_rate\": 1e400}", "mine.json")), Error);
  EXPECT_THROW(static_cast<void>(parse_workload("[]", "mine.json")), Error);
}

TEST(Workload, AMessageHasAPartForEachRank) {
  Workload workload = load_workload("tiny-a2a");
  workload.message->elements = 4;
  change(workload, {.ranks = 4});
  EXPECT_EQ(workload.ranks, 4);
  try {
    change(workload, {.ranks = 5});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "engine.bad_workload");
    EXPECT_EQ(error.place(), "--ranks");
  }
}

TEST(Workload, UnknownNamesAreAnsweredWithTheKnownOnes) {
  try {
    static_cast<void>(load_workload("tinny"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "engine.unknown_workload");
    EXPECT_NE(error.advice().find("tiny, tiny-dp-mp"), std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(load_workload("no/such/file.json")), Error);
}

}  // namespace
}  // namespace interlace::engine
