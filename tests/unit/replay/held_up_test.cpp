#include "simulator/replay/held_up.hpp"

#include <gtest/gtest.h>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::replay {
namespace {

constexpr contention::LostToMemory kUsual{.streaming = 0.3, .gather = 0.1};
const char* const kStreams = "at::native::vectorized_elementwise_kernel";
const char* const kFollows = "split_embedding_codegen_forward";

/// Kernels of one rank.
class HeldUp : public testing::Test {
 protected:
  HeldUp() { kernel("gemm", 0, 1); }  // the trace begins with it

  void kernel(std::string_view name, Nanoseconds begin, Nanoseconds end) {
    builder.add_kernel({stream, builder.intern(name), begin, end - begin, {}}, {});
  }
  trace::Trace build() {
    Diagnostics none;
    return std::move(builder).build(none);
  }
  void exchange(Nanoseconds begin, Nanoseconds end) {
    exchanges.push_back({trace::CollectiveFunction::kAllToAll, 1'000'000, {begin, end}, kUsual});
  }

  trace::TraceBuilder builder;
  trace::RankId rank = builder.add_rank({.number = 0, .source = "r0"});
  trace::LaneId stream = builder.lane(trace::LaneKind::kStream, rank, 0, 7);
  std::vector<RecordedExchange> exchanges;
};

TEST_F(HeldUp, NamesAreOfTheKindsMeant) {
  EXPECT_EQ(contention::bound_of(kStreams), contention::Bound::kStreaming);
  EXPECT_EQ(contention::bound_of(kFollows), contention::Bound::kGather);
}

// Alone 100 us, beside the kernel 250: of each microsecond 0.6 are lost.
TEST_F(HeldUp, ARecordingShowsWhatAKernelCosts) {
  kernel(kFollows, 1'000'000, 1'250'000);
  kernel(kFollows, 2'000'000, 2'250'000);
  exchange(0, 100'000);
  exchange(500'000, 600'000);
  exchange(1'000'000, 1'250'000);
  exchange(2'000'000, 2'250'000);
  const LostBeside seen = learn_lost_beside(hungry_kernels(build()), exchanges);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_NEAR(seen.at(kFollows), 0.6, 1e-9);
}

// Half of the time beside another one, too, which by itself is not seen: its usual 0.3 of 125 us are not the first's.
TEST_F(HeldUp, WhatAnotherKernelCostsIsNotPutDownToIt) {
  for (const Nanoseconds begin : {1'000'000, 2'000'000}) {
    kernel(kFollows, begin, begin + 250'000);
    kernel(kStreams, begin, begin + 125'000);
    exchange(begin, begin + 250'000);
  }
  exchange(0, 100'000);
  exchange(500'000, 600'000);
  const LostBeside seen = learn_lost_beside(hungry_kernels(build()), exchanges);
  EXPECT_NEAR(seen.at(kFollows), (150.0 - 37.5) / 250.0, 1e-9);
  EXPECT_FALSE(seen.contains(kStreams));  // kFollows covers more
}

TEST_F(HeldUp, NothingIsLearnedOfSizesThatNeverStandAlone) {
  kernel(kFollows, 0, 1'000'000);
  exchange(0, 250'000);
  exchange(300'000, 550'000);
  exchange(2'000'000, 2'100'000);  // once is not enough
  EXPECT_TRUE(learn_lost_beside(hungry_kernels(build()), exchanges).empty());
}

// 100 us beside a streaming kernel, the second half also beside one that costs more, then 20 us beside host copies
// only. Copies cost more than the streaming kernel and less than the other: their 20 us beside the first count, too.
TEST_F(HeldUp, TheStrongestCounts) {
  kernel(kStreams, 0, 100'000);
  kernel(kFollows, 50'000, 100'000);
  const IntervalSet copies({{30'000, 50'000}, {90'000, 120'000}});
  const CollectivesHeldUp held_up(hungry_kernels(build()), kUsual, {{kFollows, 0.6}}, copies, 0.5);
  EXPECT_NEAR(held_up.lost({0, 200'000}), 0.3 * 30'000 + 0.5 * 20'000 + 0.6 * 50'000 + 0.5 * 20'000, 1e-6);
}

// Through host memory such kernels cost nothing: the copies beside them do.
TEST_F(HeldUp, AKernelThatCostsNothingHidesNoCopy) {
  kernel(kStreams, 0, 100'000);
  const contention::LostToMemory nothing{.streaming = 0, .gather = 0};
  const CollectivesHeldUp held_up(hungry_kernels(build()), nothing, {}, IntervalSet({{0, 100'000}}), 0.35);
  EXPECT_NEAR(held_up.lost({0, 100'000}), 35'000, 1e-6);
}

}  // namespace
}  // namespace interlace::replay
