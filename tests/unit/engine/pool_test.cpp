#include "engine/cpu/pool.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/cpu/device.hpp"

namespace interlace::engine::cpu {
namespace {

void on_one_rank(std::uint64_t seed, const std::function<void(CpuDevice&)>& host) {
  CpuCluster cluster(1, {.seed = seed});
  cluster.run([&](int rank) {
    CpuDevice device(cluster, rank);
    host(device);
  });
}

TEST(CpuPool, MemoryIsPoisonedInTheOrderOfItsStream) {
  on_one_rank(1, [](CpuDevice& device) {
    const StreamId stream = device.make_stream("main", 0);
    const Buffer<float> floats = device.buffer<float>(3, stream);
    const Buffer<std::int64_t> ids = device.buffer<std::int64_t>(3, stream);
    device.synchronize();
    for (const float value : floats.span()) EXPECT_TRUE(std::isnan(value));
    for (const std::int64_t id : ids.span()) EXPECT_EQ(id, -1);
  });
}

TEST(CpuPool, HandsOutWhatItsOwnStreamGaveBackAndPoisonsItBehindTheLastUse) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    on_one_rank(seed, [](CpuDevice& device) {
      const StreamId stream = device.make_stream("main", 0);
      Buffer<float> first = device.buffer<float>(16, stream);
      const float* memory = first.data();
      float read = 0.0F;
      device.launch(stream, [memory = first.data()](NativeStream) { memory[5] = 2.0F; });
      device.launch(stream, [&read, memory](NativeStream) { read = memory[5]; });
      first = {};
      const Buffer<float> second = device.buffer<float>(15, stream);
      EXPECT_EQ(second.data(), memory);
      device.synchronize();
      EXPECT_EQ(read, 2.0F);
      EXPECT_TRUE(std::isnan(memory[5]));
    });
  }
}

TEST(CpuPool, OtherPoolsDoNotShareMemory) {
  on_one_rank(1, [](CpuDevice& device) {
    const StreamId a = device.make_stream("a", 0);
    const StreamId b = device.make_stream("b", 0);
    const float* memory = device.buffer<float>(16, a).data();
    EXPECT_NE(device.buffer<float>(16, b).data(), memory);
    EXPECT_EQ(device.buffer<float>(16, a).data(), memory);
  });
}

// b still reads when the host gives the block back. Without used_on() the pool of a hands it out under b's feet, for
// some order; with it, never, and b reads what was there.
TEST(CpuPool, UsedOnKeepsABlockForTheOtherStream) {
  const auto wrong_reads = [](bool recorded) {
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      on_one_rank(seed, [&](CpuDevice& device) {
        const StreamId a = device.make_stream("a", 0);
        const StreamId b = device.make_stream("b", 0);
        Buffer<float> block = device.buffer<float>(16, a);
        if (recorded) block.used_on(b);
        device.launch(a, [memory = block.data()](NativeStream) { memory[0] = 7.0F; });
        device.wait_stream(b, a);
        float read = 0.0F;
        device.launch(b, [&read, memory = block.data()](NativeStream) { read = memory[0]; });
        block = {};
        const Buffer<float> next = device.buffer<float>(16, a);
        device.launch(a, [memory = next.data()](NativeStream) { memory[0] = 8.0F; });
        device.synchronize();
        wrong += read == 7.0F ? 0 : 1;
      });
    }
    return wrong;
  };
  EXPECT_EQ(wrong_reads(true), 0);
  EXPECT_GT(wrong_reads(false), 0);
}

TEST(CpuPool, CountsPeaksOfDeviceMemoryInItsBlockSizes) {
  on_one_rank(1, [](CpuDevice& device) {
    const StreamId stream = device.make_stream("main", 0);
    Buffer<std::byte> a = device.buffer<std::byte>(100, stream);      // 128
    const Buffer<std::byte> b = device.buffer<std::byte>(1, stream);  // 64
    a = {};
    const Buffer<std::byte> c = device.buffer<std::byte>(300, stream);  // 512
    const Buffer<std::byte> host = device.host_buffer<std::byte>(1 << 20);
    EXPECT_EQ(device.peaks().allocated, 64 + 512);
    EXPECT_EQ(device.peaks().reserved, 128 + 64 + 512);
  });
}

}  // namespace
}  // namespace interlace::engine::cpu
