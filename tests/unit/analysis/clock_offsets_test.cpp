#include "simulator/analysis/clock_offsets.hpp"

#include <gtest/gtest.h>

#include <random>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::analysis {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

std::vector<HostClock> clocks_of(const trace::Trace& trace) {
  Diagnostics diagnostics;
  return host_clocks(trace, graph::ProcessGroups(trace, diagnostics));
}

void count_differing(const trace::Trace& trace, Diagnostics& diagnostics) {
  count_differing_clocks(trace, graph::ProcessGroups(trace, diagnostics), diagnostics);
}

/// Two hosts with a rank each; what the second records is off by `error` ns, and by `drift` ns more each collective.
struct TwoHosts {
  trace::TraceBuilder builder;
  Diagnostics diagnostics;
  bool named = true;  ///< else as PyTorch's profiler leaves it
  trace::LaneId first = stream(builder.add_rank({.number = 0, .source = "r0", .host_name = named ? "a" : ""}));
  trace::LaneId second = stream(builder.add_rank({.number = 1, .source = "r1", .host_name = named ? "b" : ""}));
  Nanoseconds error = 0;
  Nanoseconds drift = 0;
  Nanoseconds passed = 0;

  trace::LaneId stream(trace::RankId rank) { return builder.lane(trace::LaneKind::kStream, rank, 0, 7); }
  void part(trace::LaneId lane, Nanoseconds begin, Nanoseconds end, const char* name = kAllReduce) {
    builder.add_collective({.lane = lane, .name = builder.intern(name), .start = begin, .duration = end - begin}, {},
                           std::nullopt);
  }
  /// Begun at these times of the first host's clock, ended by both at one.
  void collective(Nanoseconds begin_here, Nanoseconds begin_there, Nanoseconds end, const char* name = kAllReduce) {
    const Nanoseconds off = error + passed++ * drift;
    part(first, begin_here, end, name);
    part(second, begin_there + off, end + off, name);
  }
  std::vector<HostClock> clocks() { return clocks_of(std::move(builder).build(diagnostics)); }
};

TEST(ClockOffsets, LieWithinTheStatedBound) {
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same each time
  for (const Nanoseconds error : {Nanoseconds{0}, 3 * kMillisecond, -7 * kSecond}) {
    TwoHosts hosts;
    hosts.error = error;
    for (Nanoseconds now = 20 * kSecond; now < 21 * kSecond; now += 10 * kMillisecond) {
      const auto wait_here = static_cast<Nanoseconds>(random() % 400'000);
      const auto wait_there = static_cast<Nanoseconds>(random() % 400'000);
      const Nanoseconds last = now + std::max(wait_here, wait_there);
      hosts.collective(now + wait_here, now + wait_there, last + 20 * kMicrosecond);
    }
    const auto clocks = hosts.clocks();
    ASSERT_EQ(clocks.size(), 2U);
    EXPECT_EQ(clocks[1].host, "b");
    EXPECT_EQ(clocks[1].collectives, 100);
    EXPECT_TRUE(clocks[1].is_steady);
    // The true offset is -error. One that waited for the other ends 20 us after that begins: 20 us on either side.
    EXPECT_LE(std::abs(clocks[1].offset + error), clocks[1].residual);
    EXPECT_LE(clocks[1].residual, 40 * kMicrosecond);
  }
}

TEST(ClockOffsets, TellDrift) {
  TwoHosts hosts;
  hosts.drift = 5 * kMicrosecond;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds now = kSecond + i * kMillisecond;
    hosts.collective(now, now, now + 10 * kMicrosecond);
  }
  const auto clocks = hosts.clocks();
  EXPECT_FALSE(clocks[1].is_steady);
  // From 0 to 495 us; each collective leaves 10 us to either side.
  EXPECT_EQ(clocks[1].offset, -495 * kMicrosecond / 2);
  EXPECT_EQ(clocks[1].residual, (495 - 20) * kMicrosecond / 2);
}

// Two groups, each within its host, that have one name: the second's collectives say nothing of the first's clock.
TEST(ClockOffsets, LeaveOutGroupsOfOneName) {
  for (const bool several : {false, true}) {
    TwoHosts hosts;
    const auto add = [&](trace::LaneId lane, Nanoseconds begin) {
      hosts.builder.add_collective(
          {.lane = lane, .name = hosts.builder.intern(kAllReduce), .start = begin, .duration = 100}, {},
          trace::CollectiveDetail{.function = trace::CollectiveFunction::kAllReduce,
                                  .group = hosts.builder.intern("mesh_dp"),
                                  .group_size = 2});
    };
    add(hosts.first, 1'000);
    add(hosts.second, 5'000);
    if (several) {
      add(hosts.stream(hosts.builder.add_rank({.number = 2, .source = "r2", .host_name = "a"})), 1'000);
      add(hosts.stream(hosts.builder.add_rank({.number = 3, .source = "r3", .host_name = "b"})), 5'000);
    }
    EXPECT_EQ(hosts.clocks()[1].collectives, several ? 0 : 1);
  }
}

TEST(ClockOffsets, UseOnlyWhatWaitsForAllAndMatches) {
  TwoHosts hosts;
  hosts.collective(100, 200, 300, "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  hosts.collective(400, 500, 600, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
  hosts.part(hosts.first, 700, 800);  // the other host did not record it
  EXPECT_EQ(hosts.clocks()[1].collectives, 0);
}

TEST(ClockOffsets, OneHostHasOneClock) {
  trace::TraceBuilder builder;
  Diagnostics diagnostics;
  for (int i = 0; i < 3; ++i) builder.add_rank({.number = i, .source = "r", .host_name = i == 2 ? "" : "a"});
  const auto clocks = clocks_of(std::move(builder).build(diagnostics));
  ASSERT_EQ(clocks.size(), 1U);
  EXPECT_EQ(clocks[0].ranks.size(), 3U);
}

TEST(ClockOffsets, RanksWithoutAHostAreOnOneUnlessTheirCollectivesContradictThat) {
  for (const Nanoseconds error : {Nanoseconds{0}, 60 * kMicrosecond, 8 * kMillisecond, -8 * kMillisecond}) {
    TwoHosts hosts{.named = false};
    hosts.error = error;
    for (int i = 0; i < 10; ++i) {
      const Nanoseconds now = kSecond + i * kMillisecond;
      hosts.collective(now, now, now + 20 * kMicrosecond);
    }
    const trace::Trace trace = std::move(hosts.builder).build(hosts.diagnostics);
    const auto clocks = clocks_of(trace);
    count_differing(trace, hosts.diagnostics);
    // 60 us are 20 of collectives, and 40 that clocks of one host may differ by.
    const bool differ = std::abs(error) > 60 * kMicrosecond;
    ASSERT_EQ(clocks.size(), differ ? 2U : 1U) << error;
    EXPECT_EQ(hosts.diagnostics.count_of("trace.clocks_differ"), differ ? 1 : 0);
    if (!differ) continue;
    EXPECT_EQ(clocks[1].host, "that of rank 1");
    EXPECT_EQ(clocks[1].offset, -error);
    EXPECT_EQ(hosts.diagnostics.entries().back().first_place, "rank 1 by about 8000.0 us");
  }
}

TEST(ClockOffsets, OfNamedHostsCountWhereTheyCannotAgree) {
  for (const Nanoseconds error : {60 * kMicrosecond, 80 * kMicrosecond}) {
    TwoHosts hosts;
    hosts.error = error;
    hosts.collective(1'000, 1'000, 1'000 + 20 * kMicrosecond);
    count_differing(std::move(hosts.builder).build(hosts.diagnostics), hosts.diagnostics);
    EXPECT_EQ(hosts.diagnostics.count_of("trace.clocks_differ"), error > 70 * kMicrosecond ? 1 : 0);
  }
}

}  // namespace
}  // namespace interlace::analysis
