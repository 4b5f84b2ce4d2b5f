#include "simulator/ingest/same_run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/base/error.hpp"

namespace interlace::ingest {
namespace {

RankFacts file(const std::string& name, std::optional<std::int32_t> rank, std::optional<std::int32_t> world_size,
               Interval window = {100, 200}) {
  RankFacts made;
  made.file = name;
  made.rank = rank;
  made.world_size = world_size;
  made.window = window;
  return made;
}

std::string code_of(const std::vector<RankFacts>& files) {
  Diagnostics diagnostics;
  try {
    (void)number_ranks(files, diagnostics);
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return "none";
}

std::vector<RankFacts> pair_of(RankFacts a, RankFacts b) {
  std::vector<RankFacts> files;
  files.push_back(std::move(a));
  files.push_back(std::move(b));
  return files;
}

TEST(NumberRanks, TakesWhatFilesSayElseTheirOrder) {
  Diagnostics diagnostics;
  EXPECT_EQ(number_ranks(pair_of(file("a", 3, 4), file("b", 1, 4)), diagnostics), (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(number_ranks(pair_of(file("a", {}, {}), file("b", {}, {}, {100, 201})), diagnostics),
            (std::vector<std::int32_t>{0, 1}));
  // The first file's position is the rank of the second.
  EXPECT_EQ(number_ranks(pair_of(file("a", {}, {}), file("b", 0, {}, {100, 201})), diagnostics),
            (std::vector<std::int32_t>{1, 0}));
}

TEST(NumberRanks, CountsMissingRanks) {
  Diagnostics diagnostics;
  (void)number_ranks(pair_of(file("a", 3, 4), file("b", 1, 4)), diagnostics);
  ASSERT_EQ(diagnostics.count_of("ingest.missing_ranks"), 2);
  EXPECT_EQ(diagnostics.entries().front().first_place, "of 4 ranks missing: 0, 2");
}

TEST(NumberRanks, CountsRanksOutsideTheWorldAndHosts) {
  auto files = pair_of(file("a", 0, 2), file("b", 5, 2));
  files[0].host_name = "one";
  files[1].host_name = "two";
  Diagnostics diagnostics;
  (void)number_ranks(files, diagnostics);
  EXPECT_EQ(diagnostics.count_of("kineto.rank_outside_world"), 1);
  EXPECT_EQ(diagnostics.count_of("ingest.missing_ranks"), 1);
  EXPECT_EQ(diagnostics.count_of("ingest.several_hosts"), 1);
}

TEST(NumberRanks, RefusesOneRankTwice) {
  EXPECT_EQ(code_of(pair_of(file("a", 1, 2), file("b", 1, 2))), "ingest.duplicate_rank");
  EXPECT_EQ(code_of(pair_of(file("a", {}, {}), file("a", {}, {}))), "ingest.duplicate_rank");
}

TEST(NumberRanks, RefusesRanksOfDifferentRuns) {
  constexpr const char* kRefused = "ingest.ranks_of_different_runs";
  EXPECT_EQ(code_of(pair_of(file("a", 0, 2), file("b", 1, 4))), kRefused);
  EXPECT_EQ(code_of(pair_of(file("a", 0, 2), file("b", 1, 2, {201, 300}))), kRefused);
  EXPECT_EQ(code_of(pair_of(file("a", 0, 2), file("b", 1, 2, {200, 300}))), "none");

  auto files = pair_of(file("a", 0, 4), file("b", 1, 4));
  files[0].group_of_all = {0, 1, 2, 3};
  files[1].group_of_all = {0, 1};
  EXPECT_EQ(code_of(files), kRefused);
  files[1].group_of_all = {0, 1, 2, 3};
  EXPECT_EQ(code_of(files), "none");
  files[1].producer = "kineto schema 1, CUDA 12.4";
  EXPECT_EQ(code_of(files), kRefused);
}

TEST(NumberRanks, TakesProgramsOfOneRecordingThatRanOneAfterAnother) {
  auto files = pair_of(file("a", 0, {}), file("b", 1, {}, {900, 950}));
  files[0].run_id = files[1].run_id = "4711";
  EXPECT_EQ(code_of(files), "none");
  files[1].run_id = "4712";
  EXPECT_EQ(code_of(files), "ingest.ranks_of_different_runs");
}

TEST(NumberRanks, DoesNotCompareTheClocksOfHosts) {
  auto files = pair_of(file("a", 0, 2), file("b", 1, 2, {900, 950}));
  files[0].host_name = "one";
  files[1].host_name = "two";
  EXPECT_EQ(code_of(files), "none");
  files[1].host_name = "one";
  EXPECT_EQ(code_of(files), "ingest.ranks_of_different_runs");
}

}  // namespace
}  // namespace interlace::ingest
