#include "simulator/explain/alignment.hpp"

#include <gtest/gtest.h>

namespace interlace::explain {
namespace {

PathElement element(std::uint32_t name, Nanoseconds time) {
  PathElement made;
  made.name = {name};
  made.in = time;
  return made;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(Alignment, KeepsTheCommonTimeAndNotTheMostWorks) {
  // 1 and 2 swap places: the one with the long time stays common.
  const StepPath a{element(1, 10), element(2, 900), element(3, 5)};
  const StepPath b{element(2, 800), element(1, 10), element(3, 5)};
  EXPECT_EQ(common_elements(a, b), (Pairs{{1, 0}, {2, 2}}));
}

TEST(Alignment, OfNothingIsNothing) {
  EXPECT_TRUE(common_elements({}, {element(1, 1)}).empty());
  EXPECT_TRUE(common_elements({element(1, 1)}, {element(2, 1)}).empty());
}

TEST(Alignment, PairsWorksWithoutALength) {
  EXPECT_EQ(common_elements({element(1, 0)}, {element(1, 0)}), (Pairs{{0, 0}}));
}

}  // namespace
}  // namespace interlace::explain
