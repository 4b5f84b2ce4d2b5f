#include "simulator/base/at_once.hpp"

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace interlace {
namespace {

void says_nothing(const std::string& /*doing*/) {}

TEST(AtOnce, EachPieceGivesWhatItGivesOrThrowsToItsOwnFuture) {
  AtOnce all;
  auto one = all.add("one", [] { return 1; });
  auto failed = all.add("failed", []() -> int { throw std::runtime_error("no"); });
  auto word = all.add("word", [] { return std::string("two"); });
  std::vector<std::string> told;
  all.run(2, [&](const std::string& doing) { told.push_back(doing); });
  EXPECT_EQ(one.get(), 1);
  EXPECT_THROW(failed.get(), std::runtime_error);
  EXPECT_EQ(word.get(), "two");
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told.back(), "word");  // behind the first two
}

TEST(AtOnce, NoMoreThanAskedForAreBegunAndNotOver) {
  AtOnce all;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::vector<std::future<void>> done;
  for (int i = 0; i < 24; ++i) {
    done.push_back(all.add("piece", [&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --running;
    }));
  }
  all.run(1, says_nothing);
  EXPECT_EQ(most, 1);
  for (auto& one : done) EXPECT_TRUE(one.valid());
}

TEST(AtOnce, BeginInTheOrderInWhichTheyWereAdded) {
  AtOnce all;
  std::vector<std::string> added;
  std::vector<std::future<void>> done;
  for (int i = 0; i < 50; ++i) {
    done.push_back(all.add(added.emplace_back(std::to_string(i)),
                           [] { std::this_thread::sleep_for(std::chrono::microseconds(100)); }));
  }
  std::vector<std::string> begun;
  all.run(20, [&](const std::string& doing) { begun.push_back(doing); });
  EXPECT_EQ(begun, added);
}

// Loops within those that run, too, come to their end.
TEST(AtOnce, WhatIsStoppedBeginsNothingMore) {
  AtOnce all;
  std::atomic<int> passes = 0;
  std::vector<std::future<void>> done;
  for (int i = 0; i < 4; ++i) {
    done.push_back(all.add(std::to_string(i), [&] {
      tbb::parallel_for(0, 100, [&](int) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++passes;
      });
    }));
  }
  int begun = 0;
  const auto stop = [&](const std::string& /*doing*/) {
    if (++begun == 2) throw std::runtime_error("enough");
  };
  EXPECT_THROW(all.run(4, stop), std::runtime_error);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(passes, 100);
  done.front().get();
}

TEST(AtOnce, NothingToDoIsDone) { AtOnce().run(4, says_nothing); }

}  // namespace
}  // namespace interlace
