#include "simulator/replay/observation.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace interlace::replay {
namespace {

std::vector<Observation> observations(const std::vector<bool>& in_company) {
  std::vector<Observation> some(in_company.size());
  for (std::size_t i = 0; i < some.size(); ++i) some[i].in_company = in_company[i];
  return some;
}

TEST(ShortestTime, IsThatOfTheInstanceThatCompanyDelayedLeast) {
  EXPECT_EQ(shortest_time(observations({true, true, true, true}), {900, 300, 2000, 40}), 40);
}

TEST(ShortestTime, LeavesOutAnInstanceThatHadNextToNothingToDo) {
  EXPECT_EQ(shortest_time(observations({false, false, true, false, false}), {932, 930, 1353, 12, 931}), 930);
}

TEST(ShortestTime, TakesItsOwnInstancesAtTheirWordOnlyWhereThereAreThree) {
  EXPECT_EQ(shortest_time(observations({false, false, true}), {932, 930, 12}), 12);
}

TEST(ShortestTime, KeepsBatchesThatDiffer) {
  EXPECT_EQ(shortest_time(observations({false, false, false, false}), {900, 520, 880, 910}), 520);
}

}  // namespace
}  // namespace interlace::replay
