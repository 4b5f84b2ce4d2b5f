#include "engine/cpu/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/runtime/transfer.hpp"
#include "tests/support/error_text.hpp"

namespace interlace::engine::cpu {
namespace {

using Host = std::function<void(CpuDevice&, CpuCommunicator&, StreamId)>;

void on_ranks(int ranks, std::uint64_t seed, const Host& host) {
  CpuCluster cluster(ranks, {.seed = seed});
  cluster.run([&](int rank) {
    CpuDevice device(cluster, rank);
    CpuCommunicator communicator(device, 0, rank, ranks);
    host(device, communicator, device.make_stream("main", 0));
    device.synchronize();
  });
}

// Rank r sends q + 1 copies of 10 r + q to rank q, so rank r receives r + 1 copies of 10 q + r from each q.
TEST(CpuCommunicator, AllToAllMovesPartsOfAnySize) {
  for (const int ranks : {1, 2, 3}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      on_ranks(ranks, seed, [ranks](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
        const int here = communicator.rank();
        std::vector<std::int64_t> sent;
        std::vector<std::int64_t> expected;
        std::vector<std::size_t> send_counts;
        for (int q = 0; q < ranks; ++q) {
          sent.insert(sent.end(), static_cast<std::size_t>(q + 1), 10 * here + q);
          expected.insert(expected.end(), static_cast<std::size_t>(here + 1), 10 * q + here);
          send_counts.push_back(static_cast<std::size_t>(q + 1));
        }
        const std::vector<std::size_t> receive_counts(static_cast<std::size_t>(ranks),
                                                      static_cast<std::size_t>(here + 1));
        const Buffer<std::int64_t> send = to_device(device, stream, sent);
        const Buffer<std::int64_t> receive = device.buffer<std::int64_t>(expected.size(), stream);
        communicator.all_to_all<std::int64_t>("parts", stream, {send, send_counts}, {receive, receive_counts})
            .wait(stream);
        const Buffer<std::int64_t> read = to_host(device, stream, receive);
        ASSERT_EQ(std::vector(read.span().begin(), read.span().end()), expected);
      });
    }
  }
}

// The same with gaps in front of the parts, which stay as they are.
TEST(CpuCommunicator, PartsMayLieApart) {
  EXPECT_EQ(aligned_begins({5, 0, 4, 1}), (std::vector<std::size_t>{0, 8, 8, 12, 16}));
  on_ranks(2, 1, [](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
    const auto here = static_cast<float>(communicator.rank());
    const Buffer<float> send = to_device(device, stream, std::vector<float>{-1.0F, here, -1.0F, here + 10, here + 20});
    const Buffer<float> receive = to_device(device, stream, std::vector<float>(6, -7.0F));
    const bool first = communicator.rank() == 0;
    const std::vector<std::size_t> receive_counts(2, first ? 1 : 2);
    communicator.all_to_all<float>("parts", stream, {send, {1, 2}, {1, 3}}, {receive, receive_counts, {1, 4}})
        .wait(stream);
    const Buffer<float> read = to_host(device, stream, receive);
    const std::vector<float> expected =
        first ? std::vector<float>{-7, 0, -7, -7, 1, -7} : std::vector<float>{-7, 10, 20, -7, 11, 21};
    EXPECT_EQ(std::vector(read.span().begin(), read.span().end()), expected);
  });
}

TEST(CpuCommunicator, AllReduceGivesTheMeanOfARange) {
  on_ranks(4, 3, [](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
    const auto here = static_cast<float>(communicator.rank());
    const Buffer<float> values = to_device(device, stream, std::vector<float>{here, 2 * here, 5.0F + here});
    communicator.all_reduce_mean("middle", stream, values, 1, 1).wait(stream);
    const Buffer<float> read = to_host(device, stream, values);
    EXPECT_EQ(read.span()[0], here);
    EXPECT_EQ(read.span()[1], 2 * (0 + 1 + 2 + 3) / 4.0F);
    EXPECT_EQ(read.span()[2], 5.0F + here);
  });
}

// Rank 0 goes on here before rank 1 takes part, so that the collective is under way all the time.
void during_an_exchange(
    const std::function<void(CpuDevice&, StreamId pool, Awaitable&, const std::vector<const float*>&)>& act) {
  CpuCluster cluster(2, {});
  cluster.run([&](int rank) {
    CpuDevice device(cluster, rank);
    CpuCommunicator communicator(device, 0, rank, 2);
    const StreamId pool = device.make_stream("main", 0);
    std::vector<const float*> used;
    const auto issue = [&] {
      const Buffer<float> send = device.buffer<float>(2, pool);
      const Buffer<float> receive = device.buffer<float>(2, pool);
      used = {send.data(), receive.data()};
      return communicator.all_to_all<float>("parts", pool, {send, {1, 1}}, {receive, {1, 1}});
    };
    Awaitable arrival = issue();
    if (rank == 0) act(device, pool, arrival, used);
    device.synchronize();
  });
}

bool gets_again(CpuDevice& device, StreamId pool, const std::vector<const float*>& used) {
  const Buffer<float> next = device.buffer<float>(2, pool);
  return std::ranges::find(used, next.data()) != used.end();
}

TEST(CpuCommunicator, MemoryInFlightIsHeldUntilItsPoolsStreamWaitsAndNoLonger) {
  during_an_exchange([](CpuDevice& device, StreamId pool, Awaitable& arrival, const auto& used) {
    EXPECT_FALSE(gets_again(device, pool, used));
    arrival.wait_and_hold(pool);
    EXPECT_FALSE(gets_again(device, pool, used));
    arrival.hand_over(pool);
    EXPECT_TRUE(gets_again(device, pool, used));
  });
}

TEST(CpuCommunicator, MemoryInFlightIsKeptForAnotherStreamThatWaits) {
  during_an_exchange([](CpuDevice& device, StreamId pool, Awaitable& arrival, const auto& used) {
    arrival.wait(device.make_stream("other", 0));
    EXPECT_FALSE(gets_again(device, pool, used));
  });
}

TEST(CpuCommunicator, MemoryInFlightIsKeptWhereNobodyWaits) {
  during_an_exchange([](CpuDevice& device, StreamId pool, Awaitable& arrival, const auto& used) {
    arrival = {};
    EXPECT_FALSE(gets_again(device, pool, used));
  });
}

// The result is there only for those who wait.
TEST(CpuCommunicator, WithoutWaitingTheResultMayBeMissing) {
  int missing = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    on_ranks(2, seed, [&](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
      const Buffer<float> send = to_device(device, stream, std::vector<float>{1.0F, 1.0F});
      const Buffer<float> receive = device.buffer<float>(2, stream);
      static_cast<void>(communicator.all_to_all<float>("early", stream, {send, {1, 1}}, {receive, {1, 1}}));
      const Buffer<float> read = to_host(device, stream, receive);
      missing += read.span()[0] == 1.0F ? 0 : 1;
    });
  }
  EXPECT_GT(missing, 0);
  EXPECT_LT(missing, 60);
}

TEST(CpuCommunicator, RanksThatIssueDifferentCollectivesAreNamed) {
  const std::string problem = testing::error_text([] {
    on_ranks(2, 1, [](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
      const Buffer<float> values = to_device(device, stream, std::vector<float>{1.0F});
      const char* what = communicator.rank() == 0 ? "losses" : "gradients";
      communicator.all_reduce_mean(what, stream, values, 0, 1).wait_on_host();
    });
  });
  EXPECT_NE(problem.find("error[engine.collective_order]: rank 0"), std::string::npos) << problem;
  EXPECT_NE(problem.find("issues \"losses\" where rank 1 issues \"gradients\""), std::string::npos) << problem;
}

TEST(CpuCommunicator, CountsThatDisagreeAreNamed) {
  const std::string problem = testing::error_text([] {
    on_ranks(2, 1, [](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
      const Buffer<float> values = to_device(device, stream, std::vector<float>{1.0F, 2.0F, 3.0F});
      const std::size_t receive = communicator.rank() == 0 ? 1 : 2;
      communicator.all_to_all<float>("x", stream, {values, {1, 1}}, {values, {receive, receive}}).wait_on_host();
    });
  });
  EXPECT_NE(problem.find("\"x\": rank 0 sends 4 bytes, rank 1 expects 8"), std::string::npos) << problem;
}

TEST(CpuCommunicator, OrderHashTellsOrdersApart) {
  const auto hash_of = [](const std::vector<const char*>& names) {
    std::uint64_t hash = 0;
    on_ranks(1, 1, [&](CpuDevice& device, CpuCommunicator& communicator, StreamId stream) {
      const Buffer<float> values = to_device(device, stream, std::vector<float>{1.0F});
      for (const char* name : names) communicator.all_reduce_mean(name, stream, values, 0, 1).wait(stream);
      hash = communicator.order_hash();
    });
    return hash;
  };
  EXPECT_EQ(hash_of({"a", "b"}), hash_of({"a", "b"}));
  EXPECT_NE(hash_of({"a", "b"}), hash_of({"b", "a"}));
  EXPECT_NE(hash_of({"a"}), hash_of({"a", "a"}));
}

}  // namespace
}  // namespace interlace::engine::cpu
