#include "simulator/replay/kernel_costs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "simulator/contention/machine_profile.hpp"
#include "simulator/replay/observation.hpp"
#include "simulator/trace/trace_builder.hpp"

namespace interlace::replay {
namespace {

constexpr std::int64_t kMainStreamId = 7;
constexpr std::int64_t kSideStreamId = 20;
constexpr std::int64_t kExchangeStreamId = 30;
constexpr int kInstances = 4;

/// Two kernels of one name and grid on a side stream, each a site of its own.
class KernelCostsTest : public ::testing::Test {
 protected:
  void kernel(std::int64_t stream, const std::string& name, Interval span) {
    const trace::LaneId lane = builder.lane(trace::LaneKind::kStream, rank, 0, stream);
    builder.add_kernel({lane, builder.intern(name), span.begin, span.length(), {}}, {.grid = {6400, 1, 1}});
  }
  static Site side_stream_site(const std::string& name) {
    Site result;
    result.name = name;
    result.on_side_stream = true;
    result.shape = {.bound = contention::Bound::kStreaming, .blocks = 6400, .blocks_per_sm = 8, .sm_count = 132};
    return result;
  }
  /// The site of all kernels of its name, as what was built tells it.
  Site estimated(Site site) {
    const trace::Trace trace = std::move(builder).build(said);
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      if (trace.name(trace::OperationId{i}) == site.name) site.instances.push_back(trace::OperationId{i});
    }
    SiteTable table;
    table.sites = {std::move(site)};
    table.ranks.resize(1);
    estimate_kernels(trace, {}, table, {}, said);
    return table.sites.front();
  }

  /// A permutation that takes 47 us by itself, and one of the same name and grid that takes `time_ns` beside a
  /// multiplication, which ends `earlier_ns` before it. What the second is taken to need by itself.
  double alone_beside_multiplication(Nanoseconds time_ns, Nanoseconds earlier_ns) {
    for (int i = 0; i < kInstances; ++i) {
      const Nanoseconds t = i * 20 * kMillisecond;
      kernel(kMainStreamId, "gemm", {t + kMillisecond, t + 2 * kMillisecond + time_ns - earlier_ns});
      kernel(kSideStreamId, "permute", {t, t + 47 * kMicrosecond});
      kernel(kSideStreamId, "permute", {t + 2 * kMillisecond, t + 2 * kMillisecond + time_ns});
    }
    const trace::Trace trace = std::move(builder).build(said);
    SiteTable table;
    table.sites = {side_stream_site("permute"), side_stream_site("permute")};
    table.ranks.resize(1);
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const trace::OperationId op{i};
      if (trace.name(op) == "permute") table.sites[next++ % 2].instances.push_back(op);
    }
    estimate_kernels(trace, {}, table, {}, said);
    EXPECT_NEAR(table.sites.front().alone_ns, 47e3, 1.0);
    return table.sites.back().alone_ns;
  }

  /// What a transposition of the main stream that takes a millisecond is taken to need by itself, where a kernel of
  /// another stream runs beside it for so long, relative to its start.
  double alone_beside_other_stream(Interval other) {
    Site site = side_stream_site("transpose");
    site.on_side_stream = false;
    for (int i = 0; i < kInstances; ++i) {
      const Nanoseconds t = (20 * i + 1) * kMillisecond;
      kernel(kMainStreamId, "transpose", {t, t + kMillisecond});
      kernel(kSideStreamId, "update", {t + other.begin, t + other.end});
    }
    return estimated(std::move(site)).alone_ns;
  }

  /// How many instances of a kernel that mostly takes a millisecond are said to have changed, where one takes
  /// `longest_ns` and another stream has a kernel for so long in the middle of it.
  std::int64_t changed(Nanoseconds longest_ns, Nanoseconds beside_ns) {
    for (int i = 0; i < kInstances; ++i) {
      const Nanoseconds t = (20 * i + 1) * kMillisecond;
      kernel(kSideStreamId, "lookup", {t, t + (i == 2 ? longest_ns : kMillisecond)});
      if (i == 2 && beside_ns > 0) kernel(kMainStreamId, "gemm", {t + 1'000, t + 1'000 + beside_ns});
    }
    (void)estimated(side_stream_site("lookup"));
    return said.count_of("replay.changing_kernels");
  }

  /// A kernel of a side stream, of which two instances took `beside_ns` beside an all-to-all on
  /// 32 SMs and a third 1 us less, where as many as `by_itself` took a tenth of a millisecond without company.
  Site beside_exchange(int by_itself, Nanoseconds beside_ns) {
    const trace::LaneId exchanges = builder.lane(trace::LaneKind::kStream, rank, 0, kExchangeStreamId);
    for (int i = 0; i < 3; ++i) {
      const Nanoseconds t = (20 * i + 1) * kMillisecond;
      const Nanoseconds took = i == 2 ? beside_ns - kMicrosecond : beside_ns;
      builder.add_collective({exchanges, builder.intern("exchange"), t - kMillisecond, 3 * kMillisecond, {}},
                             {.grid = {32, 1, 1}},
                             trace::CollectiveDetail{.function = trace::CollectiveFunction::kAllToAll});
      kernel(kSideStreamId, "count_ids", {t, t + took});
    }
    for (int i = 0; i < by_itself; ++i) {
      const Nanoseconds t = (20 * i + 10) * kMillisecond;
      kernel(kSideStreamId, "count_ids", {t, t + 100 * kMicrosecond});
    }
    return estimated(side_stream_site("count_ids"));
  }

  Diagnostics said;
  trace::TraceBuilder builder;
  trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
};

// Six rounds of blocks that stream memory keep a fifth of their pace beside a more urgent kernel: of 0.8 ms 0.16.
TEST_F(KernelCostsTest, OneThatMoreUrgentOnesPutOffNeedsLess) {
  EXPECT_NEAR(alone_beside_other_stream({100 * kMicrosecond, 900 * kMicrosecond}), 360e3, 1.0);
}

TEST_F(KernelCostsTest, OneThatCameSecondWasNotPutOffByAnEqual) {
  EXPECT_NEAR(alone_beside_other_stream({-100 * kMicrosecond, 900 * kMicrosecond}), 1e6, 1.0);
}

TEST_F(KernelCostsTest, OneThatAMultiplicationHeldUpEveryTimeTakesWhatItsLikeTakes) {
  EXPECT_NEAR(alone_beside_multiplication(820 * kMicrosecond, 30 * kMicrosecond), 47e3, 1.0);
}

TEST_F(KernelCostsTest, OneThatRanOnWithoutTheMultiplicationHasMoreToDo) {
  EXPECT_NEAR(alone_beside_multiplication(820 * kMicrosecond, 60 * kMicrosecond), 820e3, 1.0);
}

TEST_F(KernelCostsTest, OneThatTakesTwiceAsLongMayHaveMoreToDo) {
  EXPECT_NEAR(alone_beside_multiplication(94 * kMicrosecond, 0), 94e3, 1.0);
}

TEST_F(KernelCostsTest, OneThatTakesHardlyLongerDoesTheSame) {
  EXPECT_NEAR(alone_beside_multiplication(54 * kMicrosecond, 0), 47e3, 1.0);
}

TEST_F(KernelCostsTest, ThreeInstancesByThemselvesTellMoreThanOneThatWasLuckyBesideACollective) {
  const Site site = beside_exchange(3, 150 * kMicrosecond);
  EXPECT_NEAR(site.alone_ns, 100e3, 1.0);
  EXPECT_NEAR(site.sensitivity.moving, 0.5, 1e-9);
}

TEST_F(KernelCostsTest, OfTwoTheLuckiestTells) {
  EXPECT_NEAR(beside_exchange(2, 150 * kMicrosecond).alone_ns, 149e3 / 1.5, 1.0);
}

TEST_F(KernelCostsTest, OneMayTakeTwiceAsLongAndMoreBesideACollective) {
  const Site site = beside_exchange(3, 220 * kMicrosecond);
  EXPECT_NEAR(site.alone_ns, 100e3, 1.0);
  EXPECT_NEAR(site.sensitivity.moving, 1.2, 1e-9);
}

// As where a lookup reads overwritten input: mostly a millisecond, with company; a tenth of a second in three of nine
// steps, for the most part of which it is by itself.
TEST_F(KernelCostsTest, OneThatTookAHundredTimesAsLongByItselfTakesWhatItMostlyDoes) {
  for (int i = 0; i < 9; ++i) {
    const Nanoseconds t = (200 * i + 1) * kMillisecond;
    kernel(kSideStreamId, "lookup", {t, t + (i % 3 == 0 ? 100 : 1) * kMillisecond});
    kernel(kMainStreamId, "gemm", {t, t + kMillisecond});
  }
  EXPECT_NEAR(estimated(side_stream_site("lookup")).alone_ns, 1e6, 1.0);
}

TEST_F(KernelCostsTest, OneThatTakesAMultipleOfItsTimeByItselfIsSaid) { EXPECT_EQ(changed(5 * kMillisecond, 0), 1); }

TEST_F(KernelCostsTest, OneThatTakesTwiceItsTimeIsNot) { EXPECT_EQ(changed(2 * kMillisecond, 0), 0); }

TEST_F(KernelCostsTest, OneThatHadCompanyMeanwhileIsNot) { EXPECT_EQ(changed(5 * kMillisecond, 3 * kMillisecond), 0); }

TEST_F(KernelCostsTest, OneThatHadCompanyForAPartOfItIs) { EXPECT_EQ(changed(5 * kMillisecond, kMillisecond), 1); }

// Two others one after the other and a third across both: 100 of 120 ns had company, whether of one or two.
TEST(DeviceCompany, CountsTheTimeOfCompanyOnce) {
  trace::TraceBuilder builder;
  const trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  const auto add = [&](std::int64_t stream, Interval span) {
    const trace::LaneId lane = builder.lane(trace::LaneKind::kStream, rank, 0, stream);
    builder.add_kernel({lane, builder.intern("k"), span.begin, span.length(), {}}, {.grid = {1, 1, 1}});
  };
  add(1, {100, 220});
  add(1, {195, 230});  // its own stream is no company
  add(2, {0, 140});
  add(2, {150, 190});
  add(3, {130, 200});
  Diagnostics none;
  const trace::Trace trace = std::move(builder).build(none);
  const DeviceCompany company(trace, rank);
  std::uint32_t index = 0;
  while (trace.start(trace::OperationId{index}) != 100) ++index;
  const DeviceCompany::Beside beside = company.beside(trace::OperationId{index});
  EXPECT_EQ(beside.all, 100);
  EXPECT_EQ(beside.came_later, 70);
}

}  // namespace
}  // namespace interlace::replay
