#include "simulator/stages/own_time.hpp"

#include <gtest/gtest.h>

#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::stages {
namespace {

using enum trace::MemorySpace;

class OwnTime : public testing::Test {
 protected:
  Nanoseconds of(std::string_view call) {
    const trace::Trace trace = job.build();
    return own_time(trace, graph::named(trace, call));
  }
  /// A copy from pageable memory, called for 5 ms, that begins after 3.
  void copy(Bytes bytes) { job.copy(thread, 0, 5'000, stream, "copy", 3'000, 5'100, kPageable, kDevice, bytes); }

  graph::RecordedJob job;
  trace::RankId rank = job.add_rank();
  trace::LaneId thread = job.thread(rank);
  trace::LaneId stream = job.stream(rank, 7);
};

TEST_F(OwnTime, ALaunchThatTakesLongWaited) {
  job.launch_of(thread, "cudaLaunchKernel", 0, 5'000, stream, 10, 1);
  EXPECT_EQ(of("cudaLaunchKernel"), kLongestCall);
}

TEST_F(OwnTime, AGraphTakesAsLongToLaunchAsItHasNodes) {
  job.launch_of(thread, "cudaGraphLaunch", 0, 5'000, stream, 10, 90);
  EXPECT_EQ(of("cudaGraphLaunch"), 5 * kMillisecond);
}

TEST_F(OwnTime, StagingTakesTheHostFromTheStartOfTheCopyOn) {
  copy(100'000'000);
  EXPECT_EQ(of("cudaMemcpyAsync"), kLongestCall + 2 * kMillisecond);
}

TEST_F(OwnTime, SmallCopiesAreNotStaged) {
  copy(kLargestUnstagedCopy);
  EXPECT_EQ(of("cudaMemcpyAsync"), kLongestCall);
}

}  // namespace
}  // namespace interlace::stages
