#include "simulator/cli/overlap_anchor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace interlace::cli {
namespace {

/// A step of 1000 ns with 200 ns of communication, `hidden` of which lies under 700 ns of compute.
analysis::OverlapSummary step(Nanoseconds hidden) {
  analysis::OverlapSummary summary;
  summary.step_ns = 1000;
  summary.compute_ns = 700;
  summary.communication_ns = 200;
  summary.communication_hidden_ns = hidden;
  summary.exposed_communication_ns = 200 - hidden;
  summary.idle_ns = 300 - summary.exposed_communication_ns;
  return summary;
}

// The replay hides half, the recording showed a fifth: odds of 1 and 1/4.
TEST(OverlapAnchor, MakesTheRecordedScheduleHideWhatItHid) {
  const OverlapAnchor anchor(step(40), step(100));
  EXPECT_NEAR(anchor.error(), std::log(4.0), 1e-12);
  analysis::OverlapSummary recorded = step(100);
  anchor.correct(recorded, 1.0);
  EXPECT_EQ(recorded.communication_hidden_ns, 40);
  EXPECT_EQ(recorded.exposed_communication_ns, 160);
  EXPECT_EQ(recorded.communication_ns, 200);
  EXPECT_EQ(recorded.idle_ns, step(100).idle_ns) << "is as replayed";
  EXPECT_EQ(recorded.compute_ns, 700);
}

// Half of that error in logarithms: odds of 3 become 3/2.
TEST(OverlapAnchor, CorrectsOthersByHalfOfThat) {
  analysis::OverlapSummary other = step(150);
  OverlapAnchor(step(40), step(100)).correct(other, 0.0);
  EXPECT_EQ(other.communication_hidden_ns, 120);
  EXPECT_EQ(other.exposed_communication_ns, 80);
  analysis::OverlapSummary more = step(100);
  OverlapAnchor(step(160), step(100)).correct(more, 0.0);
  EXPECT_EQ(more.communication_hidden_ns, 133);
}

// Of a step of 1000 ns 10 are all the difference that there may be: here 2 exposed, which are idle less.
TEST(OverlapAnchor, IsAlikeWhatReplaysNearlyTheSame) {
  EXPECT_EQ(likeness(step(100), step(100)), 1.0);
  EXPECT_NEAR(likeness(step(100), step(102)), 0.6, 1e-12);
  EXPECT_EQ(likeness(step(100), step(105)), 0.0);
}

TEST(OverlapAnchor, MakesItHideWhatItHidAlsoWhereTheReplayHidesAllOrNothing) {
  for (const Nanoseconds replayed : {0, 199, 200}) {
    analysis::OverlapSummary recorded = step(replayed);
    OverlapAnchor(step(40), step(replayed)).correct(recorded, 1.0);
    EXPECT_EQ(recorded.communication_hidden_ns, 40) << replayed;
  }
}

TEST(OverlapAnchor, LeavesAllAndNothing) {
  const OverlapAnchor anchor(step(40), step(100));
  for (const Nanoseconds hidden : {0, 200}) {
    analysis::OverlapSummary other = step(hidden);
    anchor.correct(other, 0.0);
    EXPECT_EQ(other, step(hidden));
  }
}

TEST(OverlapAnchor, KnowsNothingWithoutCommunication) {
  const analysis::OverlapSummary none;
  EXPECT_EQ(OverlapAnchor(none, step(100)).error(), 0.0);
  EXPECT_EQ(OverlapAnchor(step(100), none).error(), 0.0);
  analysis::OverlapSummary other = none;
  OverlapAnchor(step(40), step(100)).correct(other, 1.0);
  EXPECT_EQ(other, none);
  // Parts that are next to nothing or all do not tell how near.
  EXPECT_NEAR(OverlapAnchor(step(0), step(100)).error(), std::log(99.0), 1e-9);
}

}  // namespace
}  // namespace interlace::cli
