#include "simulator/replay/meetings.hpp"

#include <gtest/gtest.h>

#include "simulator/replay/race_odds.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

constexpr SiteId kKernel{1};
constexpr SiteId kAnother{2};
constexpr Meeting kMeeting = Meeting::kOnIssuingStream;

TEST(RaceOddsTest, WithoutARecordingTheyAreTheUsualOnes) {
  EXPECT_DOUBLE_EQ(RaceOdds().kernel_first(kKernel, Meeting::kOnIssuingStream), 0.76);
  EXPECT_DOUBLE_EQ(RaceOdds().kernel_first(kKernel, Meeting::kOnAnotherStream), 0.64);
}

TEST(RaceOddsTest, ThePairCountsMostThenThatKindOfMeeting) {
  std::array<MeetingsSeen, kMeetings> all{};
  all[static_cast<std::size_t>(kMeeting)] = {0, 96};  // of 100 with the usual four: 0.0304
  RaceOdds odds(all);
  odds.see(kKernel, kMeeting, {12, 12});
  EXPECT_NEAR(odds.kernel_first(kAnother, kMeeting), 0.0304, 1e-9);
  EXPECT_NEAR(odds.kernel_first(kKernel, kMeeting), (4 * 0.0304 + 12) / 16, 1e-9);
  EXPECT_DOUBLE_EQ(odds.kernel_first(kKernel, Meeting::kOnAnotherStream), 0.64);
}

class MeetingsTest : public RecordedSample {};

TEST_F(MeetingsTest, ARecordingOfTorchRecShowsThatTheNextKernelMostlyBeatsACollective) {
  // c6: 20 of 24 in the recordings of its schedules; the usual is 0.76.
  for (const Site& site : table.sites) {
    if (site.kind != WorkKind::kCollective) continue;
    EXPECT_GT(site.races.kernel_first(SiteId{}, Meeting::kBehindKernel), 0.78) << site.name;
    EXPECT_LT(site.races.kernel_first(SiteId{}, Meeting::kBehindKernel), 1.0) << site.name;
  }
}

}  // namespace
}  // namespace interlace::replay
