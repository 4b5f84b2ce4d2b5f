#include "simulator/graph/communication_streams.hpp"

#include <gtest/gtest.h>

#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::graph {
namespace {

class CommunicationStreams : public testing::Test {
 protected:
  void kernel() {
    job.launch(thread, now, stream, "kernel", now + 1, now + 2);
    now += 10;
  }
  void collective() {
    job.collective(thread, now, stream, "ncclDevKernel_AllGather", now + 1, now + 2);
    now += 10;
  }
  void copy() {
    job.copy(thread, now, now + 1, stream, "Memcpy DtoD", now + 1, now + 2, trace::MemorySpace::kDevice,
             trace::MemorySpace::kDevice);
    now += 10;
  }
  bool is_communication() { return communication_streams(job.build()).at(stream.index()); }

  RecordedJob job;
  trace::RankId rank = job.add_rank();
  trace::LaneId thread = job.thread(rank);
  trace::LaneId stream = job.stream(rank, 20);
  Nanoseconds now = 0;
};

TEST_F(CommunicationStreams, HoldMoreCollectivesThanOtherKernels) {
  collective();
  collective();
  kernel();
  EXPECT_TRUE(is_communication());
}

TEST_F(CommunicationStreams, AComputeStreamWithASynchronousCollectiveIsNone) {
  kernel();
  collective();
  EXPECT_FALSE(is_communication());
}

// A gathering into a list of four tensors.
TEST_F(CommunicationStreams, CopiesOfAGatheringDoNotMakeItAnother) {
  collective();
  for (int i = 0; i < 4; ++i) copy();
  EXPECT_TRUE(is_communication());
}

TEST_F(CommunicationStreams, AStreamOfCopiesAloneIsNone) {
  copy();
  EXPECT_FALSE(is_communication());
}

}  // namespace
}  // namespace interlace::graph
