#include "cupti_collector/launch_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "cupti_collector/correlation.hpp"

namespace interlace::collector {
namespace {

constexpr bool kMustWork = true;
constexpr bool kMayWork = false;

TEST(CorrelationWidener, CountsOnPast32Bits) {
  CorrelationWidener widener;
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(widener.widen(kLast - 1), std::int64_t{kLast} - 1);
  EXPECT_EQ(widener.widen(1), (std::int64_t{1} << 32) + 1);
  EXPECT_EQ(widener.widen(kLast), std::int64_t{kLast}) << "from before the end, out of order";
  EXPECT_EQ(widener.widen(2), (std::int64_t{1} << 32) + 2);
}

TEST(CorrelationWidener, CountsThroughManyRounds) {
  CorrelationWidener widener;
  std::int64_t expected = 5;
  for (int i = 0; i < 40; ++i, expected += 1'000'000'000) {
    EXPECT_EQ(widener.widen(static_cast<std::uint32_t>(expected)), expected);
  }
}

TEST(LaunchLedger, ClosesInAnyOrder) {
  std::vector<std::pair<std::int64_t, bool>> events;  // correlation, whether it is the call
  for (std::int64_t i = 1; i <= 2'000; ++i) {
    events.emplace_back(i, true);
    events.emplace_back(i, false);
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order each time
  std::ranges::shuffle(events, random);
  LaunchLedger ledger;
  for (const auto& [correlation, is_call] : events) {
    if (is_call) {
      ledger.call(correlation, kMustWork);
    } else {
      ledger.work(correlation, true);
    }
  }
  const trace::LedgerRow row = ledger.row(true);
  EXPECT_EQ(row.launched, 2'000);
  EXPECT_EQ(row.recorded, 2'000);
  EXPECT_TRUE(row.is_closed());
}

TEST(LaunchLedger, ExpectsNoWorkOfCapturedCallsWheneverItHearsOfThem) {
  LaunchLedger ledger;
  for (const std::int64_t early : {10, 11, 14, 30}) ledger.call(early, kMustWork);
  ledger.capture(10, 20);
  ledger.capture(12, 25);  // of another stream
  for (const std::int64_t late : {13, 19, 20, 24, 25, 26}) ledger.call(late, kMustWork);
  // Outside are 10, 25, 26 and 30; 20 ended one capture inside the other.
  EXPECT_EQ(ledger.pending(), 4);
  for (const std::int64_t outside : {10, 25, 26, 30}) ledger.work(outside, true);
  EXPECT_TRUE(ledger.row(true).is_closed());
  ledger.work(14, true);  // relaxed captures let other streams work on
  EXPECT_EQ(ledger.row(true).recorded, 5);
}

TEST(LaunchLedger, ExpectsNoWorkOfCallsCapturedLongAgo) {
  LaunchLedger ledger;
  ledger.call(5, kMustWork);
  ledger.call(std::int64_t{1} << 21, kMayWork);
  EXPECT_EQ(ledger.pending(), 1);
  ledger.capture(1, 9);
  EXPECT_EQ(ledger.pending(), 0);
}

TEST(LaunchLedger, TellsWhatIsMissingApart) {
  LaunchLedger ledger;
  for (std::int64_t i = 1; i <= 10; ++i) ledger.call(i, kMustWork);
  for (std::int64_t i = 1; i <= 4; ++i) ledger.work(i, true);
  ledger.work(5, false);
  EXPECT_EQ(ledger.row(false).pending, 5);
  EXPECT_EQ(ledger.row(false).undelivered, 0) << "it may come still";
  ledger.dropped(2);
  const trace::LedgerRow row = ledger.row(true);
  EXPECT_EQ(row.launched, 10);
  EXPECT_EQ(row.recorded, 4);
  EXPECT_EQ(row.untimed, 1);
  EXPECT_EQ(row.refused, 2);
  EXPECT_EQ(row.undelivered, 3);
  EXPECT_EQ(row.launched, row.recorded + row.untimed + row.refused + row.undelivered);
  EXPECT_FALSE(row.is_closed());
}

TEST(LaunchLedger, CountsACopyOnlyWhereItHasWork) {
  LaunchLedger ledger;
  ledger.call(1, kMayWork);
  EXPECT_TRUE(ledger.row(true).is_closed());
  EXPECT_EQ(ledger.row(true).launched, 0);
  ledger.call(2, kMayWork);
  ledger.work(2, true);
  EXPECT_EQ(ledger.row(true).launched, 1);
  EXPECT_EQ(ledger.row(true).recorded, 1);
}

TEST(LaunchLedger, AnUntimedNodeSpoilsItsGraph) {
  LaunchLedger ledger;
  ledger.call(1, kMustWork);
  ledger.work(1, true);
  ledger.work(1, false);
  EXPECT_EQ(ledger.row(true).untimed, 1);
  EXPECT_EQ(ledger.row(true).recorded, 0);
  EXPECT_EQ(ledger.row(true).device_work, 1);
}

// Correlations move on for so long that the ring is passed many times; what is open stays open, and late work counts.
TEST(LaunchLedger, RemembersWhatIsOpenForEver) {
  LaunchLedger ledger;
  ledger.call(1, kMustWork);
  ledger.call(2, kMustWork);
  ledger.work(3, true);
  for (std::int64_t i = 4; i < 5'000'000; ++i) {
    ledger.call(i, kMustWork);
    ledger.work(i, true);
  }
  EXPECT_EQ(ledger.pending(), 2);
  ledger.work(1, true);
  ledger.work(5, true);  // another node of a graph launched long ago
  EXPECT_EQ(ledger.pending(), 1);
  EXPECT_EQ(ledger.row(true).unlaunched, 1);
  ledger.call(3, kMustWork);
  EXPECT_EQ(ledger.row(true).unlaunched, 0);
  EXPECT_EQ(ledger.row(true).launched, 4'999'999);
}

TEST(LaunchLedger, BeginsAnywhere) {
  LaunchLedger ledger;
  constexpr std::int64_t kFirst = std::int64_t{1} << 40;
  ledger.call(kFirst, kMustWork);
  ledger.work(kFirst, true);
  EXPECT_TRUE(ledger.row(true).is_closed());
}

}  // namespace
}  // namespace interlace::collector
