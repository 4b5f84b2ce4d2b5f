#include "simulator/des/draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace interlace::des {
namespace {

TEST(Draws, DependOnSeedAndKeyAlone) {
  const Draws draws(1);
  const double first = draws.uniform(1, 2, 3);
  (void)draws.normal(7);
  EXPECT_EQ(draws.uniform(1, 2, 3), first);
  EXPECT_NE(draws.uniform(1, 3, 2), first);
  EXPECT_NE(draws.uniform(1, 2, -3), first);
  EXPECT_NE(Draws(2).uniform(1, 2, 3), first);
}

// Keys that differ by one, as those of neighbours do, and two that share all but their meaning.
TEST(Draws, OfNeighboursAreIndependent) {
  const Draws draws(1);
  constexpr int kDraws = 20'000;
  double sum = 0;
  double squares = 0;
  double beside = 0;
  double uniforms = 0;
  std::set<std::uint64_t> below;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draws.normal(0, i);
    sum += x;
    squares += x * x;
    beside += x * draws.normal(0, i + 1) + x * draws.normal(1, i);
    uniforms += draws.uniform(2, i);
    below.insert(draws.below(7, 3, i));
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.03);
  EXPECT_NEAR(squares / kDraws, 1, 0.04);
  EXPECT_NEAR(beside / kDraws, 0, 0.05);
  EXPECT_NEAR(uniforms / kDraws, 0.5, 0.01);
  EXPECT_EQ(below.size(), 7U);
}

}  // namespace
}  // namespace interlace::des
