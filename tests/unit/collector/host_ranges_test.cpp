#include "cupti_collector/host_ranges.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace interlace::collector {
namespace {

using Kind = HostEvents::Kind;

struct Found {
  std::string name;
  std::int64_t thread = 0;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  bool is_open = false;
  std::string category{};
  std::optional<trace::Number> payload{};
  bool operator==(const Found&) const = default;
};

class HostRangesTest : public ::testing::Test {
 protected:
  void add(Kind kind, Nanoseconds time, std::string_view name = {}, std::uint32_t number = 0, std::int64_t thread = 1) {
    ranges_.add({.kind = kind, .number = number, .thread = thread, .time = time, .name = name});
  }
  std::vector<Found> found_;
  HostRanges ranges_{[this](const NamedRange& range) {
    found_.push_back({std::string(range.name), range.thread, range.start, range.end, range.is_open,
                      std::string(range.category), range.payload});
  }};
};

TEST_F(HostRangesTest, NestInEachDomainOfAThread) {
  add(Kind::kPush, 1, "a");
  add(Kind::kPush, 2, "other domain", 5);
  add(Kind::kPush, 3, "b");
  add(Kind::kPush, 4, "other thread", 0, 2);
  add(Kind::kPop, 6);
  add(Kind::kPop, 7);
  add(Kind::kPop, 8, {}, 5);
  add(Kind::kPop, 9, {}, 0, 2);
  const std::vector<Found> expected{
      {"b", 1, 3, 6}, {"a", 1, 1, 7}, {"other domain", 1, 2, 8}, {"other thread", 2, 4, 9}};
  EXPECT_EQ(found_, expected);
  EXPECT_EQ(ranges_.unmatched(), 0);
}

TEST_F(HostRangesTest, EndInAnyThreadAndInAnyOrderOfReading) {
  add(Kind::kStart, 1, "a", 7);
  add(Kind::kEnd, 5, {}, 7, 2);
  add(Kind::kEnd, 9, {}, 8, 2);
  add(Kind::kStart, 6, "b", 8);
  add(Kind::kEnd, 10, {}, 99);
  const std::vector<Found> expected{{"a", 1, 1, 5}, {"b", 1, 6, 9}};
  EXPECT_EQ(found_, expected);
  EXPECT_EQ(ranges_.give_open(), 0);
  EXPECT_EQ(ranges_.unmatched(), 1);
}

TEST_F(HostRangesTest, AreLeftOutWhereRecordingStoodStill) {
  add(Kind::kPush, 5, "across the stop");
  ranges_.stopped(10);
  add(Kind::kMark, 11, "unseen");
  add(Kind::kPush, 12, "unseen");
  add(Kind::kPop, 13);
  add(Kind::kPush, 14, "across the start");
  ranges_.resumed(20);
  add(Kind::kMark, 21, "seen");
  add(Kind::kPop, 22);
  add(Kind::kPop, 23);
  const std::vector<Found> expected{
      {"seen", 1, 21, 21}, {"across the start", 1, 14, 22}, {"across the stop", 1, 5, 23}};
  EXPECT_EQ(found_, expected);
}

TEST_F(HostRangesTest, HaveNoLengthWhereNobodyEndsThem) {
  add(Kind::kPush, 1, "a");
  add(Kind::kStart, 2, "b", 3);
  add(Kind::kPop, 3);
  add(Kind::kPop, 4);
  EXPECT_EQ(ranges_.give_open(), 1);
  EXPECT_EQ(found_.back(), (Found{"b", 1, 2, 2, true}));
  EXPECT_EQ(ranges_.unmatched(), 1);
}

TEST_F(HostRangesTest, HaveTheirNumbersAndCategories) {
  using Extra = HostEvents::Extra;
  ranges_.add({.kind = Kind::kNameCategory, .name = "io", .extra = Extra{.domain = 2, .category = 3}});
  const Extra number{.payload = 7, .payload_type = trace::NumberType::kUint64, .has_payload = true};
  const trace::Number seven{trace::NumberType::kUint64, 7};
  const auto mark = [&](Nanoseconds time, Extra extra) {
    ranges_.add({.kind = Kind::kMark, .thread = 1, .time = time, .name = "mark", .extra = extra});
  };
  mark(1, Extra{.domain = 2, .category = 3});
  mark(2, Extra{.domain = 1, .category = 3});
  mark(3, number);
  ranges_.add({.kind = Kind::kPush, .thread = 1, .time = 4, .name = "range", .extra = number});
  add(Kind::kPop, 5);
  const std::vector<Found> expected{{"mark", 1, 1, 1, false, "io"},
                                    {"mark", 1, 2, 2, false, "category 3"},
                                    {"mark", 1, 3, 3, false, "", seven},
                                    {"range", 1, 4, 5, false, "", seven}};
  EXPECT_EQ(found_, expected);
}

}  // namespace
}  // namespace interlace::collector
