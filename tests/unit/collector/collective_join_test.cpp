#include "cupti_collector/collective_join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace interlace::collector {
namespace {

constexpr std::int64_t kThread = 5;

NcclTask task_of(std::string_view function, std::uint32_t plan, std::uint64_t count, std::int32_t peer = -1) {
  NcclTask task{.communicator = 1, .plan = plan, .count = count, .sequence = peer < 0 ? 3 : -1, .peer = peer};
  std::ranges::copy(function, task.function.begin());
  std::ranges::copy(std::string_view("ncclFloat16"), task.datatype.begin());
  return task;
}

CollectiveJoin join_of(std::int32_t ranks) {
  CollectiveJoin join;
  join.communicator({.number = 1, .ranks = ranks, .id = 0x1f});
  return join;
}

void settle(CollectiveJoin& join, int rounds = 2) {
  for (int i = 0; i < rounds; ++i) join.settle();
}

TEST(CollectiveJoin, TakesTheLastLaunchBeforeTheTask) {
  CollectiveJoin join = join_of(2);
  join.launch(kThread, 100, 1);
  join.launch(kThread, 200, 2);
  join.launch(kThread, 400, 3);
  join.launch(kThread + 1, 290, 4);
  join.called(kThread, 400);
  join.task(kThread, 300, task_of("AllReduce", 1, 8));
  settle(join);
  EXPECT_FALSE(join.take(1));
  EXPECT_FALSE(join.take(3));
  EXPECT_FALSE(join.take(4));
  const auto facts = join.take(2);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->function, trace::CollectiveFunction::kAllReduce);
  EXPECT_EQ(facts->group, "000000000000001f");
  EXPECT_EQ(facts->dtype, "Half");
  EXPECT_EQ(facts->in_elements, 8);
  EXPECT_EQ(facts->sequence, 3);
  EXPECT_FALSE(join.take(2)) << "once";
}

TEST(CollectiveJoin, WaitsUntilTheThreadsCallsAreKnown) {
  CollectiveJoin join = join_of(2);
  join.launch(kThread, 100, 1);
  join.called(kThread, 100);
  join.task(kThread, 150 * kMillisecond, task_of("AllReduce", 1, 8));
  settle(join, 20);
  EXPECT_FALSE(join.take(1)) << "far off: its own launch is not known yet";
  join.launch(kThread, 149 * kMillisecond, 2);
  join.called(kThread, 160 * kMillisecond);
  settle(join);
  EXPECT_TRUE(join.take(2));
}

TEST(CollectiveJoin, TakesANearLaunchWhereNoLaterCallComes) {
  CollectiveJoin join = join_of(2);
  join.launch(kThread, 100, 1);
  join.task(kThread, 200, task_of("AllReduce", 1, 8));
  settle(join, 10);
  EXPECT_TRUE(join.take(1));
}

TEST(CollectiveJoin, GivesALaunchToOnePlan) {
  CollectiveJoin join = join_of(2);
  join.launch(kThread, 100, 1);
  join.called(kThread, 1000);
  join.task(kThread, 200, task_of("AllReduce", 1, 8));
  join.task(kThread, 300, task_of("AllReduce", 2, 9));  // launched while recording was stopped
  settle(join);
  EXPECT_EQ(join.take(1)->in_elements, 8);
}

/// Of a kernel that does these tasks.
std::optional<CollectiveFacts> facts_of(std::int32_t ranks, const std::vector<NcclTask>& tasks) {
  CollectiveJoin join = join_of(ranks);
  join.launch(kThread, 100, 1);
  join.called(kThread, 1000);
  Nanoseconds time = 200;
  for (const NcclTask& task : tasks) join.task(kThread, time++, task);
  settle(join);
  return join.take(1);
}

TEST(CollectiveJoin, AddsUpTheTasksOfOneKernel) {
  const auto facts = facts_of(4, std::vector(3, task_of("ReduceScatter", 1, 10)));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->in_elements, 3 * 10 * 4);
  EXPECT_EQ(facts->out_elements, 3 * 10);
}

std::optional<CollectiveFacts> exchange(std::int32_t ranks, const std::vector<std::int32_t>& peers) {
  std::vector<NcclTask> tasks;
  for (const std::int32_t peer : peers) {
    tasks.push_back(task_of("Send", 1, 10, peer));
    tasks.push_back(task_of("Recv", 1, 20, peer));
  }
  return facts_of(ranks, tasks);
}

TEST(CollectiveJoin, SeesAnAllToAllInSendsAndReceives) {
  using enum trace::CollectiveFunction;
  EXPECT_EQ(exchange(4, {0, 1, 2, 3})->function, kAllToAll);
  EXPECT_EQ(exchange(4, {0, 1, 3})->function, kAllToAll) << "nothing for one rank";
  EXPECT_EQ(exchange(4, {1})->function, kSendRecv);
  EXPECT_EQ(exchange(2, {0, 1})->function, kAllToAll);
  EXPECT_EQ(exchange(2, {1})->function, kSendRecv) << "a plain swap with the other rank";
  EXPECT_EQ(exchange(2, {0, 1})->in_elements, 20);
  EXPECT_EQ(exchange(2, {0, 1})->out_elements, 40);
}

TEST(CollectiveJoin, TellsWhereThePartsOfAnExchangeBegin) {
  struct Part {
    std::int32_t peer;
    std::uint64_t count;
    std::uint64_t send;
    std::uint64_t receive;
  };
  const auto alignments = [](const std::vector<Part>& parts) {
    std::vector<NcclTask> tasks;
    for (const Part& part : parts) {
      NcclTask send = task_of("Send", 1, part.count, part.peer);
      NcclTask receive = task_of("Recv", 1, part.count, part.peer);
      send.rank = receive.rank = 1;
      send.send_buffer = part.send;
      receive.receive_buffer = part.receive;
      tasks.push_back(send);
      tasks.push_back(receive);
    }
    const auto facts = facts_of(2, tasks);
    return std::pair(facts->part_alignment, facts->own_part_alignment);
  };
  EXPECT_EQ(alignments({{0, 3, 0x1000, 0x2000}, {1, 4, 0x1006, 0x2020}}), std::pair(16, 2));
  EXPECT_EQ(alignments({{0, 4, 0x1000, 0x2008}, {1, 4, 0x1010, 0x2010}}), std::pair(8, 16))
      << "what is received counts";
  EXPECT_EQ(alignments({{0, 0, 0x1002, 0x2002}, {1, 4, 0x1010, 0x2010}}), std::pair(16, 16))
      << "nothing begins nowhere";
  EXPECT_EQ(alignments({{0, 4, 0x1002, 0x2002}}), std::pair(0, 0)) << "no exchange";
}

}  // namespace
}  // namespace interlace::collector
