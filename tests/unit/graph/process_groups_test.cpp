#include "simulator/graph/process_groups.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::graph {
namespace {

using trace::CollectiveFunction;

/// What is recorded of each collective of a group.
struct Told {
  std::string name;
  std::int32_t size = 0;
  bool numbered = false;
  CollectiveFunction function = CollectiveFunction::kAllReduce;
  std::int64_t first_number = 0;
};

class ProcessGroupsTest : public testing::Test {
 protected:
  RecordedJob job;
  Diagnostics diagnostics;

  explicit ProcessGroupsTest(int ranks = 4) {
    for (int r = 0; r < ranks; ++r) ranks_.push_back(job.add_rank());
  }

  /// So many collectives of these ranks, one a millisecond, from `begin` on; each takes 400 us.
  void run(std::span<const int> ranks, const Told& told, Nanoseconds begin, int count = 4, std::int64_t stream = 30) {
    for (const int r : ranks) {
      for (int k = 0; k < count; ++k) {
        const Nanoseconds t = begin + 1'000 * k + 10 * r;
        job.collective(job.thread(ranks_[at(r)], stream), t, job.stream(ranks_[at(r)], stream), "nccl", t + 100,
                       t + 400,
                       {.function = told.function,
                        .group = job.builder.intern(told.name),
                        .group_size = told.size,
                        .sequence = told.numbered ? std::optional(told.first_number + k) : std::nullopt});
      }
    }
  }
  void run(std::initializer_list<int> ranks, const Told& told, Nanoseconds begin, int count = 4,
           std::int64_t stream = 30) {
    run(std::span(ranks.begin(), ranks.size()), told, begin, count, stream);
  }

  /// "mesh 0 1; mesh 2 3?;", with a question mark where it is ambiguous.
  std::string groups() {
    const trace::Trace trace = job.build();
    std::string text;
    const ProcessGroups found(trace, diagnostics);
    for (const ProcessGroup& group : found.all()) {
      text += group.name;
      for (const trace::RankId rank : group.ranks) text += fmt::format(" {}", rank.value);
      text += group.is_ambiguous ? "?; " : "; ";
    }
    return text;
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<trace::RankId> ranks_;
};

TEST_F(ProcessGroupsTest, OneOfAllRanks) {
  run({0, 1, 2, 3}, {.name = "0", .size = 4, .numbered = true}, 0);
  EXPECT_EQ(groups(), "0 0 1 2 3; ");
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(ProcessGroupsTest, NamesOfTheirOwnTellTheRanksWhateverTheTimes) {
  run({0, 1}, {.name = "1", .size = 2}, 0);
  run({2}, {.name = "2", .size = 2}, 0);
  run({3}, {.name = "2", .size = 2}, 700'000);
  EXPECT_EQ(groups(), "1 0 1; 2 2 3; ");
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(ProcessGroupsTest, AMeshGivesOneNameToTheGroupsOfADimension) {
  run({0, 1, 2, 3}, {.name = "0", .size = 4, .numbered = true}, 0, 4, 7);
  run({0, 2}, {.name = "mesh_dp", .size = 2, .numbered = true}, 0);
  run({1, 3}, {.name = "mesh_dp", .size = 2, .numbered = true}, 500);
  EXPECT_EQ(groups(), "0 0 1 2 3; mesh_dp 0 2; mesh_dp 1 3; ");
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(ProcessGroupsTest, WithoutNumbersOrderTellsAlsoWhereARecordingBeganLater) {
  run({0, 1}, {.name = "mesh_dp", .size = 2}, 0, 8);
  run({2}, {.name = "mesh_dp", .size = 2}, 500, 8);
  run({3}, {.name = "mesh_dp", .size = 2}, 2'500, 6);
  EXPECT_EQ(groups(), "mesh_dp 0 1; mesh_dp 2 3; ");
  EXPECT_TRUE(diagnostics.empty());
}

// By number the second pair never ran together, though each of its collectives met one.
TEST_F(ProcessGroupsTest, NumbersOverruleOrder) {
  run({0, 1}, {.name = "mesh_dp", .size = 2, .numbered = true}, 0, 8);
  run({2}, {.name = "mesh_dp", .size = 2, .numbered = true}, 500, 8);
  run({3}, {.name = "mesh_dp", .size = 2, .numbered = true}, 2'500, 8);
  EXPECT_EQ(groups(), "mesh_dp 0 1; mesh_dp 2 3?; ");
  EXPECT_EQ(diagnostics.count_of(kAmbiguousGroup.code), 16);
}

TEST_F(ProcessGroupsTest, OneCollectiveInCommonMayBeByChance) {
  run({0, 1}, {.name = "mesh_dp", .size = 2, .numbered = true}, 0);
  run({2}, {.name = "mesh_dp", .size = 2, .numbered = true}, 500, 8);
  run({3}, {.name = "mesh_dp", .size = 2, .numbered = true, .first_number = 7}, 7'500, 8);
  EXPECT_EQ(groups(), "mesh_dp 0 1; mesh_dp 2 3?; ");
}

TEST_F(ProcessGroupsTest, GroupsSideBySideAreAmbiguous) {
  run({0, 1}, {.name = "mesh_dp", .size = 2, .numbered = true}, 0);
  run({2, 3}, {.name = "mesh_dp", .size = 2, .numbered = true}, 50);
  EXPECT_EQ(groups(), "mesh_dp 0 1 2 3?; ");
  EXPECT_EQ(diagnostics.count_of(kAmbiguousGroup.code), 16);
  EXPECT_EQ(diagnostics.entries().front().first_place, "mesh_dp");
}

// First 0 with 1 and 2 with 3, then crosswise: no two ranks ran together all the time.
TEST_F(ProcessGroupsTest, ANameThatIsUsedAgainByOtherRanksIsAmbiguous) {
  const Told told{.name = "1", .size = 2};
  run({0, 1}, told, 0);
  run({2, 3}, told, 500);
  run({0, 2}, told, 10'000);
  run({1, 3}, told, 10'500);
  EXPECT_EQ(groups(), "1 0 1 2 3?; ");
}

TEST_F(ProcessGroupsTest, ANameThatIsUsedAgainForAnotherSizeIsAnotherGroup) {
  run({0, 1}, {.name = "1", .size = 2}, 0);
  run({0, 1, 2, 3}, {.name = "1", .size = 4}, 10'000);
  EXPECT_EQ(groups(), "1 0 1; 1 0 1 2 3; ");
}

TEST_F(ProcessGroupsTest, RanksMayBeMissingFromTheRecording) {
  // Of the second pair only one was recorded, as of a third, which nobody can know.
  run({0, 1}, {.name = "mesh_dp", .size = 2}, 0);
  run({2}, {.name = "mesh_dp", .size = 2}, 500);
  EXPECT_EQ(groups(), "mesh_dp 0 1; mesh_dp 2; ");
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(ProcessGroupsTest, HalvesOfLargerGroupsAreToldApart) {
  run({0, 1}, {.name = "mesh_dp", .size = 3}, 0);
  run({2, 3}, {.name = "mesh_dp", .size = 3}, 500);
  EXPECT_EQ(groups(), "mesh_dp 0 1; mesh_dp 2 3; ");
}

TEST_F(ProcessGroupsTest, ARankAloneIsAGroupOfOne) {
  run({0, 1, 2, 3}, {.name = "pp_stage", .size = 1}, 0);
  EXPECT_EQ(groups(), "pp_stage 0; pp_stage 1; pp_stage 2; pp_stage 3; ");
  EXPECT_TRUE(diagnostics.empty());
}

// A pipeline's stages: each sends to the next, in an order of its own.
TEST_F(ProcessGroupsTest, SendsTellNoOneElse) {
  const Told told{.name = "pp", .size = 2, .numbered = false, .function = CollectiveFunction::kSendRecv};
  run({0, 1}, told, 0);
  run({2, 3}, told, 500);
  EXPECT_EQ(groups(), "pp 0 1 2 3?; ");
  EXPECT_EQ(diagnostics.count_of(kAmbiguousGroup.code), 16);
}

TEST_F(ProcessGroupsTest, WithoutNamesStreamsHoldGroupsApart) {
  run({0, 1}, {.name = "", .size = 2}, 0, 4, 30);
  run({2, 3}, {.name = "", .size = 2}, 500, 4, 30);
  run({0, 2}, {.name = "", .size = 2}, 20'000, 4, 31);
  run({1, 3}, {.name = "", .size = 2}, 20'500, 4, 31);
  EXPECT_EQ(groups(), " 0 1;  2 3;  0 2;  1 3; ");
}

TEST_F(ProcessGroupsTest, WithoutASizeANameIsOfOneGroup) {
  run({0, 1}, {.name = "mesh_dp"}, 0);
  run({2, 3}, {.name = "mesh_dp"}, 500);
  EXPECT_EQ(groups(), "mesh_dp 0 1 2 3; ");
}

TEST_F(ProcessGroupsTest, TellsTheGroupOfEachCollective) {
  run({0, 1}, {.name = "mesh_dp", .size = 2}, 0, 1);
  run({2, 3}, {.name = "mesh_dp", .size = 2}, 500, 1);
  job.launch(job.thread({0}), 3'000, job.stream({0}, 30), "kernel", 3'010, 3'020);
  const trace::Trace trace = job.build();
  const ProcessGroups found(trace, diagnostics);
  for (std::uint32_t op = 0; op < trace.size(); ++op) {
    std::optional<std::size_t> expected;
    if (trace.name({op}) == "nccl") expected = trace.lane(trace.lane_of({op})).rank.value / 2;
    EXPECT_EQ(found.of({op}), expected);
  }
}

}  // namespace
}  // namespace interlace::graph
