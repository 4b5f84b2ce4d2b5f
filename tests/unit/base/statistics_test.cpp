#include "simulator/base/statistics.hpp"

#include <gtest/gtest.h>

namespace interlace::statistics {
namespace {

using Values = std::vector<double>;

TEST(NonDecreasing, NeighboursThatFallTakeTheirMean) {
  EXPECT_EQ(non_decreasing({1, 2, 2, 5}), (Values{1, 2, 2, 5}));
  EXPECT_EQ(non_decreasing({4, 2, 3, 9}), (Values{3, 3, 3, 9}));  // 4 and 2 make 3, 3 does not fall below that
  EXPECT_EQ(non_decreasing({1, 6, 5, 1, 7}), (Values{1, 4, 4, 4, 7}));
  EXPECT_EQ(non_decreasing({3, 2, 1}), (Values{2, 2, 2}));
  EXPECT_EQ(non_decreasing({}), Values{});
}

TEST(Statistics, StallsAreFarAboveTheMedianOfFourTimesOrMore) {
  EXPECT_EQ(stalls({100, 110, 190, 100, 230}), (std::vector<bool>{false, false, false, false, true}));
  EXPECT_EQ(stalls({100, 900, 100}), (std::vector<bool>{false, false, false}));
  EXPECT_TRUE(stalls({}).empty());
}

}  // namespace
}  // namespace interlace::statistics
