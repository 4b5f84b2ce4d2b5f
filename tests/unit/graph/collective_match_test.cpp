#include "simulator/graph/rules/collective_match.hpp"

#include <gtest/gtest.h>

#include "simulator/graph/process_groups.hpp"
#include "simulator/graph/rules/rules.hpp"
#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::graph {
namespace {

using trace::CollectiveFunction;
using trace::Trace;

class CollectiveMatchTest : public testing::Test {
 protected:
  RecordedJob job;
  trace::RankId ranks[2] = {job.add_rank(), job.add_rank()};
  Diagnostics diagnostics;

  void run(int r, int k, CollectiveFunction function, std::optional<std::int64_t> sequence = {}) {
    const Nanoseconds t = 1'000 * k + 10 * r;
    job.collective(job.thread(ranks[r]), t, job.stream(ranks[r], 30), name(r, k), t + 100, 1'000 * k + 500,
                   {.function = function, .group = job.builder.intern("0"), .sequence = sequence});
  }
  static std::string name(int r, int k) { return std::to_string(r) + "/" + std::to_string(k); }

  /// "0/1 1/1;" for the second collectives of both ranks.
  std::string matches(const Trace& trace) {
    std::string text;
    const StreamQueues queues(trace);
    for (const MatchedCollective& match :
         match_collectives(trace, queues, ProcessGroups(trace, diagnostics), diagnostics)) {
      for (std::size_t p = 0; p < match.parts.size(); ++p) {
        if (p > 0) text += ' ';
        text += trace.name(match.parts[p]);
      }
      text += ';';
    }
    return text;
  }
};

TEST_F(CollectiveMatchTest, JoinsTheKthOfEachRank) {
  for (int r = 0; r < 2; ++r) {
    for (int k = 0; k < 3; ++k) run(r, k, CollectiveFunction::kAllToAll);
  }
  EXPECT_EQ(matches(job.build()), "0/0 1/0;0/1 1/1;0/2 1/2;");
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(CollectiveMatchTest, FindsTheShiftOfARecordingThatBeganLater) {
  for (int k = 0; k < 8; ++k) run(0, k, CollectiveFunction::kAllReduce);
  for (int k = 2; k < 8; ++k) run(1, k, CollectiveFunction::kAllReduce);
  EXPECT_EQ(matches(job.build()), "0/2 1/2;0/3 1/3;0/4 1/4;0/5 1/5;0/6 1/6;0/7 1/7;");
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 2);
}

TEST_F(CollectiveMatchTest, SequenceNumbersDecideWhereRecorded) {
  for (int k = 0; k < 2; ++k) run(0, k, CollectiveFunction::kAllReduce, 5 + k);
  run(1, 1, CollectiveFunction::kAllReduce, 6);
  EXPECT_EQ(matches(job.build()), "0/1 1/1;");
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 1);
}

// Joined by number they would wait for each other in a circle.
TEST_F(CollectiveMatchTest, OrderDecidesWhereARankHasANumberTwice) {
  for (int r = 0; r < 2; ++r) {
    for (int k = 0; k < 2; ++k) run(r, k, CollectiveFunction::kAllReduce, 5);
  }
  EXPECT_EQ(matches(job.build()), "0/0 1/0;0/1 1/1;");
}

/// Two streams of a group on each rank. A file may begin with either.
class TwoStreamsTest : public CollectiveMatchTest {
 protected:
  void run_on_both(bool with_numbers) {
    job.stream(ranks[0], 30);
    job.stream(ranks[1], 31);
    for (int k = 0; k < 8; ++k) {
      for (int r = 0; r < 2; ++r) {
        if (r == 1 && k == 0) continue;  // whose recording begins one later
        const Nanoseconds t = 1'000 * k + 10 * r;
        job.collective(job.thread(ranks[r]), t, job.stream(ranks[r], 30 + k % 2), name(r, k), t + 100, 1'000 * k + 500,
                       {.function = CollectiveFunction::kAllReduce,
                        .group = job.builder.intern("0"),
                        .sequence = with_numbers ? std::optional<std::int64_t>(5 + k) : std::nullopt});
      }
    }
  }
};

TEST_F(TwoStreamsTest, NumbersDecideWhateverTheStream) {
  run_on_both(true);
  EXPECT_EQ(matches(job.build()), "0/1 1/1;0/2 1/2;0/3 1/3;0/4 1/4;0/5 1/5;0/6 1/6;0/7 1/7;");
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 1);
}

TEST_F(TwoStreamsTest, StreamsOfOneNumberBelongTogetherWithoutThem) {
  run_on_both(false);
  EXPECT_EQ(matches(job.build()), "0/2 1/2;0/4 1/4;0/6 1/6;0/1 1/1;0/3 1/3;0/5 1/5;0/7 1/7;");
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 1);
}

TEST_F(CollectiveMatchTest, DoesNotJoinDifferentFunctions) {
  for (int k = 0; k < 4; ++k) run(0, k, CollectiveFunction::kAllReduce);
  for (int k = 0; k < 4; ++k) run(1, k, k == 2 ? CollectiveFunction::kBroadcast : CollectiveFunction::kAllReduce);
  EXPECT_EQ(matches(job.build()), "0/0 1/0;0/1 1/1;0/3 1/3;");
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 2);
}

TEST_F(CollectiveMatchTest, RanksOfDifferentTimesAreNotJoined) {
  for (int k = 0; k < 4; ++k) run(0, k, CollectiveFunction::kAllReduce);
  for (int k = 100; k < 104; ++k) run(1, k, CollectiveFunction::kAllReduce);
  EXPECT_EQ(matches(job.build()), "");
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 8);
}

/// Two pairs of ranks whose groups have one name and the same sequence numbers; the second pair's collectives run
/// `later` after those of the first.
class GroupsOfOneNameTest : public CollectiveMatchTest {
 protected:
  std::string matches_of_pairs(Nanoseconds later, bool numbered) {
    const trace::RankId four[] = {ranks[0], ranks[1], job.add_rank(), job.add_rank()};
    for (int r = 0; r < 4; ++r) {
      for (int k = 0; k < 3; ++k) {
        const Nanoseconds t = 1'000 * k + 10 * r + (r < 2 ? 0 : later);
        job.collective(job.thread(four[r]), t, job.stream(four[r], 30), name(r, k), t + 100, t + 400,
                       {.function = CollectiveFunction::kAllReduce,
                        .group = job.builder.intern("mesh_dp"),
                        .group_size = 2,
                        .sequence = numbered ? std::optional<std::int64_t>(k) : std::nullopt});
      }
    }
    return matches(job.build());
  }
};

TEST_F(GroupsOfOneNameTest, AreToldApartByTheirTimes) {
  EXPECT_EQ(matches_of_pairs(500, true), "0/0 1/0;0/1 1/1;0/2 1/2;2/0 3/0;2/1 3/1;2/2 3/2;");
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(GroupsOfOneNameTest, AreToldApartByTheirTimesWithoutNumbers) {
  EXPECT_EQ(matches_of_pairs(500, false), "0/0 1/0;0/1 1/1;0/2 1/2;2/0 3/0;2/1 3/1;2/2 3/2;");
}

TEST_F(GroupsOfOneNameTest, AreNotJoinedWhereTheyRunAtTheSameTime) {
  EXPECT_EQ(matches_of_pairs(50, true), "");
  EXPECT_EQ(diagnostics.count_of(kAmbiguousGroup.code), 12);
  EXPECT_EQ(diagnostics.count_of(kCollectiveUnmatched.code), 0);
}

TEST_F(CollectiveMatchTest, ARankAloneHasNothingToJoin) {
  run(0, 0, CollectiveFunction::kAllReduce);
  EXPECT_EQ(matches(job.build()), "");
  EXPECT_TRUE(diagnostics.empty());
}

}  // namespace
}  // namespace interlace::graph
