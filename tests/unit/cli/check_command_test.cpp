#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "simulator/report/text.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string bug(const std::string& name) { return INTERLACE_SOURCE_DIR "/samples/schedules/bugs/" + name + ".json"; }

TEST(CheckCommand, EndsWithTheStatusOfTheVerdict) {
  EXPECT_EQ(interlace("check torchrec/sparse_dist").status, 0);
  EXPECT_EQ(interlace("check torchrec/sparse_dist recsys/dp_mp_racy").status, 1);
  EXPECT_EQ(interlace("check " + bug("host_stalls_on_next_copy")).status, 0);  // lost time is no hazard
  EXPECT_EQ(interlace("check torchrec/fused_sparse_dist").status, 0);
  EXPECT_EQ(interlace("check --feature-processors torchrec/fused_sparse_dist").status, 1);
  EXPECT_EQ(interlace("check --ranks 1 torchrec/fused_sparse_dist_new_stream").status, 1);
  for (const char* arguments :
       {"check", "check --format csv torchrec/base", "check --ranks 0 torchrec/base", "check x", "check /no/such.json",
        "check --batches 3 torchrec/base", "check --per-rank torchrec/base",
        "check --batches 3,2 torchrec/base torchrec/staged", "check --repair x.json torchrec/base torchrec/staged"}) {
    EXPECT_EQ(interlace(arguments).status, 2) << arguments;
  }
  const Finished unheard = interlace("check torchrec/base >/dev/full");
  EXPECT_EQ(unheard.status, 2) << "the disk is full";
  EXPECT_TRUE(unheard.err.starts_with("error[program.output_lost]: ")) << unheard.err;
}

TEST(CheckCommand, SaysWhatIsWrongInALineWithACode) {
  EXPECT_TRUE(interlace("check x").err.starts_with("error[schedule.no_such_schedule]"));
  EXPECT_TRUE(interlace("check --batches 3 torchrec/base").err.starts_with("error[cli.unclear_ranks]: --batches"));
  EXPECT_TRUE(interlace("check --repair x.json torchrec/base torchrec/staged")
                  .err.starts_with("error[cli.not_repaired]: x.json"));
}

// A recording that lost its end may have lost the hazard, too.
TEST(CheckCommand, CallsNoRecordingSoundThatLostData) {
  const std::string whole = INTERLACE_SOURCE_DIR "/samples/traces/collector_h200/torch_missing_wait.ilt";
  EXPECT_EQ(interlace("check " + whole).status, 1);
  const testing::TemporaryFolder folder;
  const std::string cut = (folder.path() / "cut.ilt").string();
  std::filesystem::copy_file(whole, cut);
  std::filesystem::resize_file(cut, 10'000);
  const auto result = interlace("check " + cut);
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.out.find("sound as far as it was recorded"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("(ilt.lost_operations"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("data loss"), std::string::npos) << result.err;
  const Json json = Json::parse(interlace("check --format json " + cut).out);
  EXPECT_EQ(json["traces"][0]["verdict"], "incomplete");
  EXPECT_EQ(json["traces"][0]["diagnostics"][0]["severity"], "data loss") << json;
}

TEST(CheckCommand, FitsATerminal) {
  std::string all = "check all";
  for (const char* folder : {"bugs", "repaired"}) {
    for (const auto& file :
         std::filesystem::directory_iterator(INTERLACE_SOURCE_DIR "/samples/schedules/" + std::string(folder))) {
      std::istringstream alone(interlace("check " + file.path().string()).out);
      for (std::string line; std::getline(alone, line);) EXPECT_LE(report::columns_of(line), 100U) << line;
      all += " " + file.path().string();
    }
  }
  std::istringstream lines(interlace(all).out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(report::columns_of(line), 100U) << line;
  EXPECT_GT(count, schedule::library().size() + 14);
}

TEST(CheckCommand, TellsWhatClashesWhereAndHowToMendIt) {
  const std::string out = interlace("check " + bug("lookup_without_data_dist_edge")).out;
  for (const char* part :
       {"2 hazards", "read_before_write: kjt(i)", "input_dist_finish(i) (line 18, on data_dist)",
        "embedding_lookup(i) (line 19, on lookup)", "free_before_last_use: kjt(i-1)",
        R"({"wait": "data_dist", "stream": "lookup"} above line 19)", R"("lookup" in "record_stream" of line 18)"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  }
}

// As many as predict and the window tell, which do not look for fixes.
TEST(CheckCommand, CountsHazardsThatOneFixMendsTogether) {
  const std::string out = interlace("check " + bug("semi_sync_inplace_without_event")).out;
  EXPECT_NE(out.find("): 4 hazards\n"), std::string::npos) << out;
  EXPECT_NE(out.find("with it   free_before_last_use of batch(i)"), std::string::npos) << out;
}

TEST(CheckCommand, KeepsTheLongestWordOfItsMarginApart) {
  std::string text = interlace("schedules show --json torchrec/fused_sparse_dist_new_stream").out;
  const std::size_t awaited = text.find(R"({"stage": "output_dist_wait")");
  ASSERT_NE(awaited, std::string::npos) << text;
  text.insert(awaited, R"({"wait": "lookup", "stream": "main"}, )");
  const testing::TemporaryFolder folder;
  const std::string out = interlace("check " + folder.write("careful.json", text).string()).out;
  EXPECT_NE(out.find("  precaution line "), std::string::npos) << out;
}

TEST(CheckCommand, WritesJson) {
  const Finished run = interlace("check --format json torchrec/semi_sync " + bug("stash_reuses_freed_memory"));
  EXPECT_EQ(run.status, 1);
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json["schedules"].size(), 2U);
  const Json& semi = json["schedules"][0];
  EXPECT_EQ(semi["verdict"], "sound");
  EXPECT_EQ(semi["numerics"]["as_base"], false);
  const auto late =
      std::ranges::find_if(semi["staleness"], [](const Json& read) { return read["resource"] == "tables"; });
  ASSERT_NE(late, semi["staleness"].end());
  EXPECT_EQ((*late)["updates"], 1);
  const Json& hazard = json["schedules"][1]["hazards"].at(0);
  EXPECT_EQ(hazard["kind"], "free_before_last_use");
  EXPECT_EQ(hazard["earlier"]["lane"], "d2h");
  EXPECT_TRUE(hazard["fix"]["text"].get<std::string>().starts_with("\"d2h\" in \"record_stream\""));
  EXPECT_TRUE(json["schedules"][1]["numerics"]["as_base"].is_null());
  EXPECT_TRUE(json["between_ranks"].empty());
}

TEST(CheckCommand, ComparesRanks) {
  const Finished order = interlace("check --per-rank torchrec/sparse_dist torchrec/fused_sparse_dist");
  EXPECT_EQ(order.status, 1);
  EXPECT_NE(order.out.find("collective_order: collective"), std::string::npos);
  EXPECT_EQ(interlace("check --per-rank torchrec/sparse_dist torchrec/sparse_dist").status, 0);
  const Finished uneven = interlace("check --batches 3,3,2 torchrec/base");
  EXPECT_EQ(uneven.status, 1);
  EXPECT_NE(uneven.out.find("deadlock"), std::string::npos);
  EXPECT_NE(uneven.out.find("rank 2"), std::string::npos);
  EXPECT_EQ(interlace("check --batches 3,3,3 torchrec/base").status, 0);
  const Finished two = interlace("check --per-rank --batches 8,7 torchrec/base torchrec/base");
  EXPECT_EQ(two.status, 1) << two.err;
  EXPECT_NE(two.out.find("deadlock"), std::string::npos) << two.out;
}

TEST(CheckCommand, WritesTheRepairedSchedule) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("interlace_repaired." + std::to_string(static_cast<long>(getpid())) + ".json");
  EXPECT_EQ(interlace("check " + bug("side_stream_without_wait") + " --repair " + file.string()).status, 1);
  EXPECT_EQ(interlace("check " + file.string()).status, 0);
  EXPECT_FALSE(schedule::parse_file(file).hazardous);
  EXPECT_TRUE(interlace("check " + file.string() + " --repair " + file.string())
                  .err.starts_with("error[cli.output_is_input]: "));
  // What is wasteful is no hazard, and mended like one.
  for (const char* wasteful : {"host_stalls_on_next_copy", "side_stream_for_nothing"}) {
    std::filesystem::remove(file);
    EXPECT_EQ(interlace("check " + bug(wasteful) + " --repair " + file.string()).status, 0);
    const std::string mended = interlace("check " + file.string()).out;
    EXPECT_NE(mended.find("): sound\n"), std::string::npos) << mended;
  }
  std::filesystem::remove(file);
  EXPECT_EQ(interlace("check torchrec/base --repair " + file.string()).status, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

const std::string kSample = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/";

TEST(CheckCommand, ChecksTracesToo) {
  const Finished sound = interlace("check " + kSample + "sparse.r0.json.gz " + kSample + "sparse.r1.json.gz");
  EXPECT_EQ(sound.status, 0) << sound.err;
  EXPECT_NE(sound.out.find(": sound"), std::string::npos) << sound.out;
  EXPECT_NE(sound.out.find("under torchrec/sparse_dist"), std::string::npos) << sound.out;
  const Finished held = interlace("check " + kSample + "fused_snew.r0.json.gz " + kSample + "fused_snew.r1.json.gz");
  EXPECT_EQ(held.status, 0);
  EXPECT_NE(held.out.find("read_before_write of kjt would be a hazard"), std::string::npos) << held.out;
  EXPECT_NE(held.out.find("embedding_lookup reads tables 0 updates late"), std::string::npos) << held.out;
  std::istringstream lines(held.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::columns_of(line), 100U) << line;

  const testing::TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string name = "semi_sync_inplace_without_event";
  ASSERT_EQ(interlace("predict --from " + kSample + "sparse.r0.json.gz " + kSample + "sparse.r1.json.gz --schedule " +
                      bug(name) + " --out " + out)
                .status,
            0);
  const Finished predicted = interlace("check --format json " + out + "/bugs_" + name + ".ilt");
  EXPECT_EQ(predicted.status, 1) << predicted.err;
  const Json trace = Json::parse(predicted.out).at("traces").at(0);
  EXPECT_EQ(trace.at("verdict"), "hazardous");
  EXPECT_EQ(trace.at("hazards").at(0).at("datum"), "batch");
  EXPECT_EQ(trace.at("hazards").at(0).at("ranks"), Json({0, 1}));
  EXPECT_LT(trace.at("hazards").at(0).at("smallest_margin_ns").get<std::int64_t>(), 0);
}

TEST(CheckCommand, SetsAnswersApartByALine) {
  const std::string lookup = bug("side_stream_for_nothing");
  const std::string out = interlace("check " + lookup + " " + sample("fused_snew")).out;
  EXPECT_TRUE(out.starts_with("bugs/side_stream_for_nothing")) << out;
  EXPECT_NE(out.find("\n\n"), std::string::npos) << out;
}

TEST(CheckCommand, ShortensThePathOfATitleAndNotItsName) {
  const std::string out = interlace("check " + bug("side_stream_for_nothing"), "80").out;
  EXPECT_TRUE(out.starts_with("bugs/side_stream_for_nothing (")) << out;
  EXPECT_NE(out.find(".json): "), std::string::npos) << out;
}

TEST(CheckCommand, CountsInWordsThatFit) {
  const std::string missing = INTERLACE_SOURCE_DIR "/samples/traces/collector_h200/missing_wait.ilt";
  const std::string out = interlace("check " + missing).out;
  EXPECT_EQ(out.find("of 0 more"), std::string::npos) << out;
  const std::string engine = INTERLACE_SOURCE_DIR "/samples/traces/engine_t6/semi_sync";
  const std::string late = interlace("check " + engine).out;
  EXPECT_NE(late.find("reads tables 1 update late"), std::string::npos) << late;
}

TEST(CheckCommand, RefusesWhatDoesNotApply) {
  const std::string recorded = " " + sample("fused_snew");
  for (const auto& [arguments, option] : std::vector<std::pair<std::string, std::string>>{
           {"check torchrec/base --schedule nope", "--schedule"},
           {"check torchrec/base --memory-snapshot /nonexistent", "--memory-snapshot"},
           {"check torchrec/base --profile /nonexistent", "--profile"},
           {"check --repair x.json" + recorded, "--repair"},
           {"check --ranks 2" + recorded, "--ranks"},
           {"check --per-rank" + recorded, "--per-rank"},
           {"check" + recorded + " --batches 3,2", "--batches"}}) {
    const Finished run = interlace(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_TRUE(run.err.starts_with("error[cli.does_not_apply]: " + option + ": ")) << arguments << ": " << run.err;
  }
}

TEST(CheckCommand, SaysThatARecordingLooksLikeAnother) {
  const std::string recorded = " " + sample("fused_snew");
  const Finished other = interlace("check --schedule torchrec/semi_sync" + recorded);
  EXPECT_NE(other.out.find("it looks like one under torchrec/fused_sparse_dist_new_stream"), std::string::npos)
      << other.out << other.err;
  const auto looks_like = [&](const std::string& schedule) {
    const Finished run = interlace("check --format json --schedule " + schedule + recorded);
    return Json::parse(run.out).at("traces").at(0).at("looks_like");
  };
  EXPECT_EQ(looks_like("torchrec/semi_sync"), "torchrec/fused_sparse_dist_new_stream");
  EXPECT_TRUE(looks_like("torchrec/fused_sparse_dist_new_stream").is_null());
  const std::string engine = INTERLACE_SOURCE_DIR "/samples/traces/engine_exposed/sparse_dist";
  const Finished named = interlace("check --schedule torchrec/base " + engine);
  EXPECT_NE(named.err.find("error[cli.does_not_apply]: --schedule: "), std::string::npos) << named.out << named.err;
}

// Without annotated stages nothing can be said, which is no acquittal.
TEST(CheckCommand, SaysWhereThereIsNothingToCheck) {
  const Finished missing = interlace("check no_such.ilt");
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(missing.err.starts_with("error[ingest.cannot_open]")) << missing.err;
  const Finished single = interlace("check " + kSample + "sparse.mem.r0.snap.pickle");
  EXPECT_EQ(single.status, 2);
  EXPECT_TRUE(single.err.starts_with("error[trace_check.nothing_to_check]")) << single.err;
}

}  // namespace
}  // namespace interlace::cli
