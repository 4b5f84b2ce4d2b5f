#include "simulator/des/event_queue.hpp"

#include <gtest/gtest.h>

#include <string>

namespace interlace::des {
namespace {

TEST(EventQueue, OrdersByTimeThenPriorityThenArrival) {
  EventQueue<std::string> queue;
  queue.schedule(20, 0, "late");
  queue.schedule(10, 1, "second, came first");
  queue.schedule(10, 0, "first");
  queue.schedule(10, 1, "third, came last");
  EXPECT_EQ(queue.next_time(), 10);
  EXPECT_EQ(queue.pop(), "first");
  EXPECT_EQ(queue.pop(), "second, came first");
  EXPECT_EQ(queue.pop(), "third, came last");
  EXPECT_EQ(queue.pop(), "late");
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, EqualEventsKeepTheOrderOfArrivalHoweverMany) {
  EventQueue<int> queue;
  for (int i = 0; i < 1000; ++i) queue.schedule(5, 0, i);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(queue.pop(), i);
}

}  // namespace
}  // namespace interlace::des
