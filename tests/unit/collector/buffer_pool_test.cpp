#include "cupti_collector/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace interlace::collector {
namespace {

constexpr Bytes kBuffer = 64 << 10;

TEST(BufferPool, GivesBuffersBackInTheOrderOfTheirReturn) {
  BufferPool pool(kBuffer, 4 * kBuffer, 2);
  std::uint8_t* first = pool.take();
  std::uint8_t* second = pool.take();
  EXPECT_EQ(pool.out(), 2);
  pool.give_back(second, 8);
  pool.give_back(first, 16);
  EXPECT_EQ(pool.out(), 0);
  const auto full = pool.drain();
  ASSERT_EQ(full.size(), 2U);
  EXPECT_EQ(full[0].data, second);
  EXPECT_EQ(full[0].valid_bytes, 8U);
  EXPECT_EQ(full[1].data, first);
  EXPECT_TRUE(pool.drain().empty());
}

TEST(BufferPool, RefusesAtItsLimit) {
  BufferPool pool(kBuffer, 2 * kBuffer, 0);
  std::uint8_t* first = pool.take();
  std::uint8_t* second = pool.take();
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.take(), nullptr);
  pool.give_back(first, 0);
  pool.give_back(second, 0);
  for (const auto& full : pool.drain()) pool.recycle(full);
  std::uint8_t* again = pool.take();
  EXPECT_TRUE(again == first || again == second);
  pool.give_back(again, 0);
}

TEST(BufferPool, ClearsWhatWasUsed) {
  BufferPool pool(kBuffer, kBuffer, 1);
  std::uint8_t* buffer = pool.take();
  std::memset(buffer, 0xFF, 1000);
  pool.give_back(buffer, 1000);
  pool.recycle(pool.drain()[0]);
  buffer = pool.take();
  EXPECT_TRUE(std::all_of(buffer, buffer + kBuffer, [](std::uint8_t byte) { return byte == 0; }));
  pool.give_back(buffer, 0);
}

TEST(BufferPool, KeepsBuffersFreeWithinItsLimit) {
  BufferPool pool(kBuffer, 3 * kBuffer, 0);
  pool.keep_free(8);
  EXPECT_EQ(pool.mapped(), 3U);
}

TEST(BufferPool, IgnoresABufferThatIsNoneOfIts) {
  BufferPool pool(kBuffer, kBuffer, 1);
  std::uint8_t foreign = 0;
  pool.give_back(&foreign, 1);
  EXPECT_TRUE(pool.drain().empty());
}

TEST(BufferPool, MakesWhatIsThrownBackFreeAtOnce) {
  BufferPool pool(kBuffer, kBuffer, 0);
  std::uint8_t* buffer = pool.take();
  ASSERT_NE(buffer, nullptr);
  EXPECT_TRUE(pool.owns(buffer));
  buffer[3] = 1;
  pool.throw_back(buffer, 4);
  EXPECT_EQ(pool.out(), 0);
  EXPECT_TRUE(pool.drain().empty());
  ASSERT_EQ(pool.take(), buffer);
  EXPECT_EQ(buffer[3], 0);
  pool.throw_back(buffer, 0);
  std::uint8_t other = 0;
  EXPECT_FALSE(pool.owns(&other));
}

// Threads take, fill and return buffers while one drains them: each filling arrives exactly once.
TEST(BufferPool, LosesNothingBetweenThreads) {
  constexpr int kThreads = 6;
  constexpr std::uint32_t kRounds = 4'000;
  BufferPool pool(kBuffer, 16 * kBuffer, 4);
  std::atomic<int> running = kThreads;
  std::atomic<std::int64_t> written = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kRounds; ++i) {
        std::uint8_t* buffer = pool.take();
        if (buffer == nullptr) continue;
        ASSERT_EQ(buffer[0], 0) << "two threads have one buffer, or it was not cleared";
        const std::uint32_t value = static_cast<std::uint32_t>(t) * kRounds + i + 1;
        std::memcpy(buffer, &value, sizeof(value));
        written += value;
        pool.give_back(buffer, sizeof(value));
      }
      --running;
    });
  }
  std::int64_t read = 0;
  for (bool is_over = false; !is_over;) {
    is_over = running == 0;
    for (const auto& full : pool.drain()) {
      std::uint32_t value = 0;
      std::memcpy(&value, full.data, sizeof(value));
      read += value;
      pool.recycle(full);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace interlace::collector
