#include "simulator/replay/devices_of_ranks.hpp"

#include <gtest/gtest.h>

#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::replay {
namespace {

/// A rank of four steps. Its second stream is one of this device; the first is one of device 0.
Diagnostics said_of(std::int64_t second_device) {
  graph::RecordedJob job;
  const trace::RankId rank = job.builder.add_rank({.number = 4});
  const trace::LaneId thread = job.thread(rank);
  const trace::LaneId first = job.stream(rank, 7);
  const trace::LaneId second = job.builder.lane(trace::LaneKind::kStream, rank, second_device, 8);
  for (Nanoseconds t = 0; t < 4'000; t += 1'000) {
    job.range(thread, "## forward ##", t, t + 300);
    job.launch(thread, t + 10, first, "forward", t + 20, t + 200);
    job.launch(thread, t + 30, second, "forward", t + 40, t + 200);
    job.range(thread, "## optimizer ##", t + 400, t + 600);
    job.launch(thread, t + 410, first, "optimizer", t + 420, t + 500);
  }
  const trace::Trace trace = job.build();
  Diagnostics said;
  const stages::Cut cut = stages::cut(trace, stages::torchrec_profile(), said);
  Diagnostics result;
  count_other_devices(trace, cut, result);
  return result;
}

TEST(DevicesOfRanks, WorkOnASecondGpuIsCounted) {
  const Diagnostics said = said_of(1);
  EXPECT_EQ(said.count_of("replay.several_devices"), 3) << "one a whole step";
  EXPECT_EQ(said.entries().front().first_place, "rank 4: work on 2 devices");
}

TEST(DevicesOfRanks, SeveralStreamsOfOneGpuAreNot) { EXPECT_TRUE(said_of(0).empty()); }

}  // namespace
}  // namespace interlace::replay
