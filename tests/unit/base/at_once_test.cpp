#include "simulator/base/at_once.hpp"

#include <gtest/gtest.h>

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

TEST(AtOnce, NothingToDoIsDone) { AtOnce().run(4, says_nothing); }

}  // namespace
}  // namespace interlace
