#include "simulator/replay/host_copies.hpp"

#include <gtest/gtest.h>

namespace interlace::replay {
namespace {

TEST(HostCopyCosts, AreThoseOfTheLineThroughWhatCollectivesAccompanied) {
  // 50 bytes a ns by itself, 40 beside a collective, 45 for half of the time either; a small one was slow to start.
  const std::vector<HostCopy> copies{{3e8, 1 / 45.0, 0.5}, {3e8, 0.025, 1.0}, {1e8, 1 / 47.5, 0.25}, {1e6, 0.1, 1.0}};
  const auto costs = seen_host_copy_costs(copies);
  ASSERT_TRUE(costs);
  EXPECT_NEAR(costs->alone, 0.020, 2e-4);
  EXPECT_NEAR(costs->beside, 0.025, 3e-4);
}

TEST(HostCopyCosts, AreNotSeenWhereAllCopiesHadTheSameCompany) {
  EXPECT_FALSE(seen_host_copy_costs({{3e8, 0.025, 1.0}, {3e8, 0.025, 0.95}, {1e8, 0.026, 1.0}, {1e8, 0.025, 0.9}}));
  EXPECT_FALSE(seen_host_copy_costs({{3e8, 0.020, 0.0}, {3e8, 0.025, 1.0}})) << "two are not enough";
}

TEST(HostCopyCosts, ACopyIsNotFasterBesideACollective) {
  const auto costs = seen_host_copy_costs({{3e8, 0.025, 0.0}, {3e8, 0.020, 1.0}, {3e8, 0.025, 0.0}, {3e8, 0.020, 1.0}});
  ASSERT_TRUE(costs);
  EXPECT_DOUBLE_EQ(costs->alone, costs->beside);
}

TEST(HostCopyCosts, FreesCopiesOfTheirCompany) {
  EXPECT_DOUBLE_EQ(mean_cost_alone({{1e8, 0.025, 1.0}, {1e8, 0.020, 0.0}, {1e8, 1 / 45.0, 0.5}}, 0.8), 0.020);
}

}  // namespace
}  // namespace interlace::replay
