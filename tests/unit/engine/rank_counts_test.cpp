#include "engine/calibrate/rank_counts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace interlace::calibrate {
namespace {

TEST(RankCounts, ArePowersOfTwoAndAllDevices) {
  EXPECT_EQ(rank_counts(1), std::vector<int>{});
  EXPECT_EQ(rank_counts(2), (std::vector<int>{2}));
  EXPECT_EQ(rank_counts(3), (std::vector<int>{2, 3}));
  EXPECT_EQ(rank_counts(6), (std::vector<int>{2, 4, 6}));
  EXPECT_EQ(rank_counts(8), (std::vector<int>{2, 4, 8}));
}

}  // namespace
}  // namespace interlace::calibrate
