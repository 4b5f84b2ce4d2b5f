#include "simulator/replay/meetings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "simulator/replay/race_odds.hpp"
#include "simulator/trace/trace_builder.hpp"
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
  for (std::uint32_t op = 0; op < 12; ++op) odds.see(trace::OperationId{op}, kKernel, kMeeting, true);
  EXPECT_NEAR(odds.kernel_first(kAnother, kMeeting), 0.0304, 1e-9);
  EXPECT_NEAR(odds.kernel_first(kKernel, kMeeting), (4 * 0.0304 + 12) / 16, 1e-9);
  EXPECT_DOUBLE_EQ(odds.kernel_first(kKernel, Meeting::kOnAnotherStream), 0.64);
}

TEST(RaceOddsTest, AKernelBehindMoreWaitsLosesMoreOftenToWhatACollectiveReleasesWithIt) {
  const double usual = RaceOdds().kernel_first(kKernel, kMeeting);
  const double behind_two = RaceOdds().kernel_first(kKernel, kMeeting, {.waits = 1});
  EXPECT_NEAR(behind_two / (1 - behind_two), usual / (1 - usual) * std::exp(-1.5), 1e-9);
  EXPECT_GT(RaceOdds().kernel_first(kKernel, kMeeting, {.waits = -1}), usual);
}

TEST(RaceOddsTest, SingleMeetingsAreRememberedOneByOne) {
  constexpr trace::OperationId kOnce{3};
  constexpr trace::OperationId kAgain{4};
  RaceOdds odds;
  odds.see(kOnce, kKernel, kMeeting, true);
  odds.see(kAgain, kKernel, kMeeting, false);
  EXPECT_EQ(odds.kernel_was_first(kOnce, kKernel, kMeeting), true);
  EXPECT_EQ(odds.kernel_was_first(kAgain, kKernel, kMeeting), false);
  EXPECT_EQ(odds.kernel_was_first(kOnce, kAnother, kMeeting), std::nullopt);
  EXPECT_EQ(odds.kernel_was_first(kOnce, kKernel, Meeting::kBehindKernel), std::nullopt);
}

class MeetingsTest : public RecordedSample {};

TEST_F(MeetingsTest, ARecordingOfTorchRecShowsThatTheNextKernelMostlyBeatsACollective) {
  // The usual is 0.76.
  for (const Site& site : table.sites) {
    if (site.kind != WorkKind::kCollective) continue;
    EXPECT_GT(site.races.kernel_first(SiteId{}, Meeting::kBehindKernel), 0.78) << site.name;
    EXPECT_LT(site.races.kernel_first(SiteId{}, Meeting::kBehindKernel), 1.0) << site.name;
  }
}

/// One iteration of one rank; works are launched in the order in which they are added, a microsecond apart. Each is a
/// site of its own.
class Launches {
 public:
  enum class On : std::uint8_t { kMain, kSide, kCommunication };

  SiteId add(On on, Nanoseconds start_us, Nanoseconds end_us) {
    const auto correlation = static_cast<std::int64_t>(table_.sites.size()) + 1;
    const bool collective = on == On::kCommunication;
    builder_.add_host_call({thread_, builder_.intern("launch"), correlation * kMicrosecond, 100, correlation});
    const trace::LaneId stream = streams_[static_cast<std::size_t>(on)];
    const trace::TraceBuilder::Common work{stream, builder_.intern(collective ? "nccl" : "kernel"),
                                           start_us * kMicrosecond, (end_us - start_us) * kMicrosecond, correlation};
    if (collective) {
      builder_.add_collective(work, {}, {});
    } else {
      builder_.add_kernel(work, {});
    }
    table_.sites.emplace_back().kind = collective ? WorkKind::kCollective : WorkKind::kKernel;
    return SiteId{static_cast<std::uint32_t>(correlation - 1)};
  }

  /// The odds of that kernel's start before that collective's, learned from all that was added.
  double kernel_first(SiteId collective, SiteId kernel, Meeting meeting) {
    Diagnostics diagnostics;
    const trace::Trace trace = std::move(builder_).build(diagnostics);
    RecordedIteration iteration;
    for (const trace::OperationId call : trace.on_lane(thread_)) {
      const auto index = static_cast<std::uint32_t>(iteration.calls.size());
      iteration.works.push_back(
          {trace.launched_by(call)[0], SiteId{index}, table_.sites[index].kind == WorkKind::kCollective});
      iteration.calls.push_back({.call = call, .segment = {}, .first_work = index, .works = 1});
    }
    table_.ranks = {{std::move(iteration)}};
    learn_races(trace, table_);
    return table_.sites[collective.index()].races.kernel_first(kernel, meeting);
  }

 private:
  trace::TraceBuilder builder_;
  trace::RankId rank_ = builder_.add_rank({.number = 0});
  trace::LaneId thread_ = builder_.lane(trace::LaneKind::kHostThread, rank_, 1, 1);
  std::vector<trace::LaneId> streams_{builder_.lane(trace::LaneKind::kStream, rank_, 0, 7),
                                      builder_.lane(trace::LaneKind::kStream, rank_, 0, 8),
                                      builder_.lane(trace::LaneKind::kStream, rank_, 0, 9)};
  SiteTable table_;
};

/// The odds where the next work of a stream meets the collective behind another collective that ends at 100 us.
double behind_collective(Launches::On kernel_on, Nanoseconds collective_start_us, Nanoseconds kernel_start_us,
                         Meeting asked) {
  Launches launches;
  launches.add(Launches::On::kSide, 5, 8);
  launches.add(Launches::On::kMain, 10, 20);
  launches.add(Launches::On::kCommunication, 20, 100);
  const SiteId collective = launches.add(Launches::On::kCommunication, collective_start_us, 200);
  const SiteId kernel = launches.add(kernel_on, kernel_start_us, 150);
  return launches.kernel_first(collective, kernel, asked);
}

TEST(LearnRacesTest, BehindACollectiveTheIssuingStreamAndOthersAreToldApart) {
  using On = Launches::On;
  // One meeting beside the usual four, then beside what these five give.
  EXPECT_NEAR(behind_collective(On::kMain, 104, 102, Meeting::kOnIssuingStream), (4 * (4 * 0.76 + 1) / 5 + 1) / 5,
              1e-9);
  EXPECT_NEAR(behind_collective(On::kMain, 102, 104, Meeting::kOnIssuingStream), 4 * (4 * 0.76 / 5) / 5, 1e-9);
  EXPECT_NEAR(behind_collective(On::kMain, 104, 102, Meeting::kOnAnotherStream), 0.64, 1e-9);
  EXPECT_NEAR(behind_collective(On::kSide, 104, 102, Meeting::kOnAnotherStream), (4 * (4 * 0.64 + 1) / 5 + 1) / 5,
              1e-9);
  EXPECT_NEAR(behind_collective(On::kSide, 104, 102, Meeting::kOnIssuingStream), 0.76, 1e-9);
}

TEST(LearnRacesTest, WhatWaitedForTheKernelOrForSomethingElseDidNotMeetIt) {
  using On = Launches::On;
  EXPECT_NEAR(behind_collective(On::kMain, 151, 102, Meeting::kOnIssuingStream), 0.76, 1e-9);
  EXPECT_NEAR(behind_collective(On::kMain, 102, 120, Meeting::kOnIssuingStream), 0.76, 1e-9);
}

TEST(LearnRacesTest, ACollectiveThatRanBeforeTheKernelsEndDidNotWaitForIt) {
  const auto odds = [](Nanoseconds collective_start_us) {
    Launches launches;
    launches.add(Launches::On::kCommunication, 5, 10);
    launches.add(Launches::On::kMain, 10, 100);
    const SiteId collective = launches.add(Launches::On::kCommunication, collective_start_us, 200);
    const SiteId kernel = launches.add(Launches::On::kMain, 104, 150);
    return launches.kernel_first(collective, kernel, Meeting::kBehindKernel);
  };
  EXPECT_NEAR(odds(102), 4 * (4 * 0.76 / 5) / 5, 1e-9);
  EXPECT_NEAR(odds(50), 0.76, 1e-9);
}

}  // namespace
}  // namespace interlace::replay
