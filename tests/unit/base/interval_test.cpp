#include "simulator/base/interval.hpp"

#include <gtest/gtest.h>

namespace interlace {
namespace {

TEST(Interval, TheHullHoldsBothAndNothingOfAnEmptyOne) {
  EXPECT_EQ(hull({10, 20}, {5, 12}), (Interval{5, 20}));
  EXPECT_EQ(hull({10, 20}, {30, 40}), (Interval{10, 40}));
  EXPECT_EQ(hull({0, 0}, {30, 40}), (Interval{30, 40}));
  EXPECT_EQ(hull({30, 40}, {7, 7}), (Interval{30, 40}));
}

TEST(Interval, LiesBetweenTwoTimesInEitherOrder) {
  EXPECT_EQ(between(3, 9), (Interval{3, 9}));
  EXPECT_EQ(between(9, 3), (Interval{3, 9}));
}

TEST(IntervalSet, UnitesWhatTouchesAndOverlaps) {
  const IntervalSet set({{10, 20}, {0, 5}, {5, 7}, {15, 30}, {40, 40}});
  EXPECT_EQ(set.intervals(), (std::vector<Interval>{{0, 7}, {10, 30}}));
  EXPECT_EQ(set.length(), 27);
}

TEST(IntervalSet, CountsWhatAWindowCovers) {
  const IntervalSet set({{0, 10}, {20, 30}, {40, 50}});
  EXPECT_EQ(set.covered({5, 45}), 5 + 10 + 5);
  EXPECT_EQ(set.covered({10, 20}), 0);
  EXPECT_EQ(set.covered({-5, 100}), 30);
}

TEST(IntervalSet, IntersectionAndDifferencePartitionASet) {
  const IntervalSet a({{0, 100}, {200, 300}});
  const IntervalSet b({{50, 60}, {90, 250}, {290, 400}});
  EXPECT_EQ(intersection(a, b).intervals(), (std::vector<Interval>{{50, 60}, {90, 100}, {200, 250}, {290, 300}}));
  EXPECT_EQ(difference(a, b).intervals(), (std::vector<Interval>{{0, 50}, {60, 90}, {250, 290}}));
  EXPECT_EQ(intersection(a, b).length() + difference(a, b).length(), a.length());
}

}  // namespace
}  // namespace interlace
