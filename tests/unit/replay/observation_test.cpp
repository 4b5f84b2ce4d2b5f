#include "simulator/replay/observation.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::replay {
namespace {

std::vector<Observation> observations(const std::vector<bool>& in_company) {
  std::vector<Observation> some(in_company.size());
  for (std::size_t i = 0; i < some.size(); ++i) some[i].company_ns = in_company[i] ? 1.0 : 0.0;
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

TEST(ShortestTime, IsNotThatOfInstancesThatTookAThousandTimesAsLongByThemselves) {
  EXPECT_EQ(
      shortest_time(observations({true, false, true, false, true, false, true}), {840, 8e5, 830, 8e5, 845, 8e5, 850}),
      830);
}

TEST(ShortestTime, KeepsBatchesThatDiffer) {
  EXPECT_EQ(shortest_time(observations({false, false, false, false}), {900, 520, 880, 910}), 520);
}

// Two communicators: one collective waits until 1000 and moves data from then on, another comes and goes meanwhile.
TEST(CollectiveCompany, FindsACollectiveThatRunsWithinAnother) {
  trace::TraceBuilder builder;
  const trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  const auto add = [&](std::int64_t stream, Nanoseconds begin, Nanoseconds end, std::int32_t ctas) {
    const trace::LaneId lane = builder.lane(trace::LaneKind::kStream, rank, 0, stream);
    return builder.add_collective({lane, builder.intern("nccl"), begin, end - begin, {}}, {.grid = {ctas, 1, 1}}, {});
  };
  add(1, 0, 2000, 8);
  add(2, 100, 300, 2);
  Diagnostics none;
  const trace::Trace trace = std::move(builder).build(none);
  const CollectiveCompany company(trace, rank, {{trace::OperationId{0}, 1000}, {trace::OperationId{1}, 200}});
  const std::vector<contention::HeldSms> beside = company.beside({150, 250});
  ASSERT_EQ(beside.size(), 3U);
  EXPECT_EQ(beside[0].ctas, 8);
  EXPECT_FALSE(beside[0].moving);
  EXPECT_EQ(beside[1].ctas, 2);
  EXPECT_EQ(beside[1].end_ns, 50);
  EXPECT_FALSE(beside[1].moving);
  EXPECT_EQ(beside[2].ctas, 2);
  EXPECT_TRUE(beside[2].moving);
}

}  // namespace
}  // namespace interlace::replay
