#include "engine/cpu/cluster.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/cpu/communicator.hpp"
#include "engine/cpu/device.hpp"
#include "engine/runtime/failure.hpp"
#include "engine/runtime/transfer.hpp"
#include "tests/support/error_text.hpp"

namespace interlace::engine::cpu {
namespace {

constexpr std::uint64_t kSeeds = 40;

// Runs host(device) on one rank.
void on_one_rank(std::optional<std::uint64_t> seed, const std::function<void(CpuDevice&)>& host) {
  CpuCluster cluster(1, {.seed = seed});
  cluster.run([&](int rank) {
    CpuDevice device(cluster, rank);
    host(device);
  });
}

TEST(CpuCluster, WorkOfOneStreamRunsInItsOrder) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::string order;
    on_one_rank(seed, [&](CpuDevice& device) {
      const StreamId stream = device.make_stream("main", 0);
      for (const char letter : {'a', 'b', 'c', 'd'}) {
        device.launch(stream, [&order, letter](NativeStream) { order += letter; });
      }
      device.synchronize();
    });
    ASSERT_EQ(order, "abcd");
  }
}

// Two streams of two works each have (4 over 2) = 6 orders; all must come up, and the host must not wait.
TEST(CpuCluster, WorkOfTwoStreamsRunsInEveryOrder) {
  const std::set<std::string> all{"12ab", "1a2b", "1ab2", "a12b", "a1b2", "ab12"};
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 4000 && orders != all; ++seed) {
    std::string order;
    on_one_rank(seed, [&](CpuDevice& device) {
      const StreamId a = device.make_stream("a", 0);
      const StreamId b = device.make_stream("b", 0);
      for (const char letter : {'1', '2'}) {
        device.launch(a, [&order, letter](NativeStream) { order += letter; });
        device.launch(b, [&order, letter](NativeStream) { order += static_cast<char>(letter + 'a' - '1'); });
      }
      device.synchronize();
    });
    orders.insert(order);
  }
  EXPECT_EQ(orders, all);
}

TEST(CpuCluster, AWaitOrdersWhatFollowsIt) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::string order;
    on_one_rank(seed, [&](CpuDevice& device) {
      const StreamId a = device.make_stream("a", 0);
      const StreamId b = device.make_stream("b", 0);
      device.launch(b, [&](NativeStream) { order += 'x'; });
      device.launch(a, [&](NativeStream) { order += '1'; });
      device.wait_stream(b, a);
      device.launch(b, [&](NativeStream) { order += '2'; });
      device.synchronize();
    });
    ASSERT_LT(order.find('1'), order.find('2'));
  }
}

TEST(CpuCluster, TheHostWaitsForAnEventAndForNothingElse) {
  bool other_was_behind = false;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    on_one_rank(seed, [&](CpuDevice& device) {
      const StreamId a = device.make_stream("a", 0);
      const StreamId b = device.make_stream("b", 0);
      bool done = false;
      bool other = false;
      device.launch(b, [&](NativeStream) { other = true; });
      device.launch(a, [&](NativeStream) { done = true; });
      device.host_wait(device.record(a));
      ASSERT_TRUE(done);
      other_was_behind = other_was_behind || !other;
      device.synchronize();
    });
  }
  EXPECT_TRUE(other_was_behind);
}

TEST(CpuCluster, ARunIsRepeatedByItsSeed) {
  const auto trace_of = [](std::uint64_t seed) {
    std::string trace;
    CpuCluster cluster(3, {.seed = seed});
    cluster.run([&](int rank) {
      CpuDevice device(cluster, rank);
      CpuCommunicator communicator(device, 0, rank, 3);
      const StreamId a = device.make_stream("a", 0);
      for (int i = 0; i < 5; ++i) {
        trace += static_cast<char>('A' + rank);
        device.launch(a, [&trace, rank](NativeStream) { trace += static_cast<char>('a' + rank); });
        const Buffer<float> values = device.buffer<float>(1, a);
        communicator.all_reduce_mean("x", a, values, 0, 1).wait(a);
      }
      device.synchronize();
    });
    return trace;
  };
  EXPECT_EQ(trace_of(11), trace_of(11));
  EXPECT_NE(trace_of(11), trace_of(12));
}

TEST(CpuCluster, AFailureOfWorkNamesRankAndRangeOfItsLaunch) {
  const std::string problem = testing::error_text([] {
    CpuCluster cluster(2, {.seed = 5});
    cluster.run([&](int rank) {
      CpuDevice device(cluster, rank);
      const StreamId stream = device.make_stream("main", 0);
      {
        const Range range(device, "dense_forward 7");
        device.launch(stream, [rank](NativeStream) {
          if (rank == 1) throw std::runtime_error("bad number");
        });
      }
      const Range range(device, "backward 7");
      device.synchronize();
    });
  });
  EXPECT_EQ(problem, "error[engine.internal]: rank 1, dense_forward 7: bad number (please report this)");
}

TEST(CpuCluster, AFailingHostEndsTheOthers) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string problem = testing::error_text([seed] {
      CpuCluster cluster(3, {.seed = seed});
      cluster.run([&](int rank) {
        CpuDevice device(cluster, rank);
        CpuCommunicator communicator(device, 0, rank, 3);
        const StreamId stream = device.make_stream("main", 0);
        const Buffer<float> values = device.buffer<float>(1, stream);
        const Range range(device, "backward 3");
        if (rank == 2) throw Error(kDeadlock, "here", "dies", "help");
        communicator.all_reduce_mean("x", stream, values, 0, 1).wait_on_host();
      });
    });
    ASSERT_EQ(problem, "error[engine.deadlock]: rank 2, backward 3, here: dies (help)");
  }
}

TEST(CpuCluster, ADeadlockIsSeenAtOnceAndNamesAllRanks) {
  const auto began = std::chrono::steady_clock::now();
  const std::string problem = testing::error_text([] {
    CpuCluster cluster(2, {.seed = 1});
    cluster.run([&](int rank) {
      CpuDevice device(cluster, rank);
      CpuCommunicator communicator(device, 0, rank, 2);
      const StreamId stream = device.make_stream("main", 0);
      const Buffer<float> values = device.buffer<float>(1, stream);
      if (rank == 1) return;  // leaves early
      const Range range(device, "optimizer_step 2");
      communicator.all_reduce_mean("x", stream, values, 0, 1).wait_on_host();
    });
  });
  EXPECT_EQ(problem,
            "error[engine.deadlock]: rank 0, optimizer_step 2: waits for what no rank does (rank 0, optimizer_step 2; "
            "rank 1, at its end) (let all ranks run the same schedule over the same number of batches)");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

// As one that makes its batches by itself: it queues nothing, so that nobody has a choice.
TEST(CpuCluster, AHostThatEntersRangesGoesOn) {
  std::atomic<int> stalls = 0;
  CpuOptions options{.seed = 1, .stall_limit = std::chrono::milliseconds(1000)};
  options.on_stall = [&](const Error& /*error*/) { ++stalls; };
  CpuCluster cluster(1, options);
  cluster.run([&](int rank) {
    CpuDevice device(cluster, rank);
    for (int batch = 0; batch < 30; ++batch) {
      const Range range(device, "next_batch " + std::to_string(batch));
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
  });
  EXPECT_EQ(stalls, 0);
}

TEST(CpuClusterDeathTest, ARankThatHangsIsNamedAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto hang = [] {
    CpuOptions options{.seed = 1, .stall_limit = std::chrono::milliseconds(300)};
    options.on_stall = [](const Error& error) {
      std::fputs(error.what(), stderr);
      _exit(3);
    };
    CpuCluster cluster(2, options);
    cluster.run([&](int rank) {
      CpuDevice device(cluster, rank);
      const StreamId stream = device.make_stream("main", 0);
      const Range range(device, "next_batch 4");
      while (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      device.launch(stream, [](NativeStream) {});
      device.synchronize();
    });
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(3), "engine.stalled.*rank 1, next_batch 4: has not gone on");
}

}  // namespace
}  // namespace interlace::engine::cpu
