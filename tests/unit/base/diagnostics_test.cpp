#include "simulator/base/diagnostics.hpp"

#include <gtest/gtest.h>

#include "simulator/base/error.hpp"

namespace interlace {
namespace {

constexpr DiagnosticKind kLost{"test.lost", Severity::kDataLoss, "events that were lost", "record again"};
constexpr DiagnosticKind kOdd{"test.odd", Severity::kInfo, "odd ones", ""};

TEST(Diagnostics, CountsByKindAndKeepsTheFirstPlace) {
  Diagnostics found;
  found.count(kLost, "a.json", 2);
  found.count(kOdd);
  found.count(kLost, "b.json");
  ASSERT_EQ(found.entries().size(), 2U);
  EXPECT_EQ(found.entries()[0].count, 3);
  EXPECT_EQ(found.entries()[0].first_place, "a.json");
  EXPECT_EQ(found.count_of("test.odd"), 1);
  EXPECT_EQ(found.count_of("test.never"), 0);
}

TEST(Diagnostics, MergeAddsCounts) {
  Diagnostics a;
  Diagnostics b;
  a.count(kLost);
  b.count(kLost, "b", 4);
  b.count(kOdd);
  a.merge(b);
  EXPECT_EQ(a.count_of("test.lost"), 5);
  EXPECT_EQ(a.count_of("test.odd"), 1);
}

TEST(Error, SaysWhatWhereAndWhatToDo) {
  const Error error(ErrorCode{"test.bad"}, "x.json:3", "no events", "record a step");
  EXPECT_STREQ(error.what(), "error[test.bad]: x.json:3: no events (record a step)");
}

}  // namespace
}  // namespace interlace
