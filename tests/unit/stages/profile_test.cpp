#include "simulator/stages/profile.hpp"

#include <gtest/gtest.h>

namespace interlace::stages {
namespace {

std::string problem_of(std::string_view json) {
  try {
    static_cast<void>(parse_profile(json, "mine.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadProfile.name);
    return error.what();
  }
  return "accepted";
}

TEST(Profile, ReadsRules) {
  const Profile profile = parse_profile(R"({"interlace_annotations": 1, "name": "mine", "iteration_end": "^opt$",
      "rules": [{"stage": "embedding_lookup", "within": ["^lookup "], "module": {"enclosing": "^lookup (.+)$"}}]})",
                                        "mine.json");
  EXPECT_EQ(profile.name, "mine");
  ASSERT_EQ(profile.rules.size(), 1U);
  EXPECT_EQ(profile.rules[0].stage, schedule::Stage::kEmbeddingLookup);
  EXPECT_EQ(profile.rules[0].module_from, ModuleFrom::kEnclosing);
}

TEST(Profile, IsLoadedByItsNameOrFromAFile) {
  for (const std::string_view name : kBuiltInProfiles) EXPECT_EQ(load_profile(std::string(name)).name, name);
  const std::string folder = INTERLACE_SOURCE_DIR "/simulator/stages/profiles/";
  EXPECT_EQ(load_profile(folder + "torchrec.json").rules.size(), torchrec_profile().rules.size());
  try {
    static_cast<void>(load_profile("torchrek"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadProfile.name);
    EXPECT_NE(std::string(error.what()).find("did you mean \"torchrec\""), std::string::npos) << error.what();
    EXPECT_NE(error.advice().find("built in are torchrec and interlace"), std::string::npos) << error.what();
  }
}

TEST(Profile, NamesTheRuleThatIsWrong) {
  const std::string start = R"({"interlace_annotations": 1, "iteration_end": "x", "rules": [)";
  EXPECT_NE(problem_of(start + R"({"stage": "lokup", "within": ["a"]}]})").find("rule 1: unknown stage"),
            std::string::npos);
  EXPECT_NE(problem_of(start + R"({"stage": "backward", "within": ["(a"]}]})").find("not a regular expression"),
            std::string::npos);
  EXPECT_NE(problem_of(start + R"({"stage": "backward"}]})").find("needs"), std::string::npos);
  EXPECT_NE(problem_of(R"({"interlace_annotations": 1, "iteration_end": "x", "frees": "now", "rules": []})")
                .find("can only be \"behind_last_use\""),
            std::string::npos);
  EXPECT_NE(problem_of(start + R"({"stage": "backward", "within": ["a"], "when": 1}]})").find("unknown field"),
            std::string::npos);
  EXPECT_NE(problem_of("[]").find("not an annotation profile"), std::string::npos);
  EXPECT_NE(problem_of(R"({"interlace_annotations": "1"})").find("not an annotation profile"), std::string::npos);
  EXPECT_NE(problem_of(R"({"interlace_annotations": 1, "iteration_end": "a", "name": 3})").find("must be a string"),
            std::string::npos);
  EXPECT_NE(problem_of("{").find("mine.json: line 1: not JSON: syntax error"), std::string::npos);
  EXPECT_NE(problem_of("1e999").find("mine.json: not JSON: number overflow"), std::string::npos);
}

// What is of no piece would be waited for by nobody: the optimizer would not wait for the gradients of a backward.
TEST(Profile, WorkOfAStageInPiecesIsOfOne) {
  const auto profile_with = [](const std::string& rule) {
    return R"({"interlace_annotations": 1, "iteration_end": "x", "rules": [{"within": ["a"], )" + rule + "}]}";
  };
  EXPECT_EQ(parse_profile(profile_with(R"("stage": "backward")"), "mine.json").rules[0].piece, Piece::kDense);
  EXPECT_EQ(parse_profile(profile_with(R"("stage": "dense_forward")"), "mine.json").rules[0].piece, Piece::kWhole);
  EXPECT_NE(problem_of(profile_with(R"("stage": "input_dist_start")"))
                .find("rule 1: stage \"input_dist_start\" needs a \"piece\": one of permute, exchange"),
            std::string::npos);
  EXPECT_NE(problem_of(profile_with(R"("stage": "backward", "piece": "splits")")).find("needs a \"piece\""),
            std::string::npos);
  EXPECT_NE(problem_of(profile_with(R"("stage": "optimizer_step", "piece": "dense")"))
                .find("stage \"optimizer_step\" has no pieces"),
            std::string::npos);
}

TEST(Profile, TheBuiltInOneIsSound) { EXPECT_EQ(torchrec_profile().name, "torchrec"); }

}  // namespace
}  // namespace interlace::stages
