#include "simulator/replay/command_queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/stages/profile.hpp"
#include "tests/unit/replay/recorded_sample.hpp"

namespace interlace::replay {
namespace {

/// A schedule that was recorded on two GPUs.
struct Recorded {
  explicit Recorded(const std::string& schedule) : recording(sample_of(schedule)) {}

  [[nodiscard]] double with_main(const std::string& schedule, const std::string& stream) const {
    const Plan plan = compile(schedule::find(schedule), cut, table);
    return std::ranges::find(plan.streams, stream, &SimulatedStream::name)->with_main;
  }

  ingest::Recording recording;
  Diagnostics diagnostics;
  stages::Cut cut = stages::cut(recording.trace, stages::torchrec_profile(), diagnostics);
  SiteTable table = find_sites(recording.trace, cut, diagnostics);
};

// Kernels of the main stream start 6 us after one another while data_dist waits for the copy of a batch, else
// after 1.4.
TEST(CommandQueues, ARecordingShowsWhichStreamsShareOne) {
  const Recorded sparse("sparse");
  EXPECT_GT(sparse.with_main("torchrec/sparse_dist", "data_dist"), 0.8);
  EXPECT_EQ(sparse.with_main("torchrec/sparse_dist", "main"), 1.0);
  EXPECT_EQ(sparse.with_main("torchrec/sparse_dist", "nccl 0"), 0.0);
  const Recorded fused("fused_snew");
  EXPECT_LT(fused.with_main("torchrec/fused_sparse_dist_new_stream", "lookup"), 0.1);
}

// As the recording of that schedule shows, above.
TEST(CommandQueues, OtherStreamsComeByTurnsInTheOrderOfTheirFirstUse) {
  const Recorded sparse("sparse");
  EXPECT_GT(sparse.with_main("torchrec/fused_sparse_dist_new_stream", "data_dist"), 0.8);
  EXPECT_LT(sparse.with_main("torchrec/fused_sparse_dist_new_stream", "lookup"), 0.2);
}

TEST(CommandQueues, ARecordingWithoutSideStreamsTellsOfNone) {
  const Recorded base("base");
  EXPECT_EQ(base.with_main("torchrec/sparse_dist", "data_dist"), kUnknownQueue);
  EXPECT_EQ(base.with_main("torchrec/fused_sparse_dist_new_stream", "lookup"), kUnknownQueue);
  EXPECT_EQ(base.with_main("torchrec/base", "main"), 1.0);
}

TEST(CommandQueues, WhatAQueueDelaysIsNotTakenForTheDevicesOwnTime) {
  const Recorded sparse("sparse");
  std::vector<double> gaps;
  for (const Site& site : sparse.table.sites) {
    if (site.kind == WorkKind::kKernel && !site.on_side_stream) gaps.push_back(site.dispatch_gap_ns);
  }
  ASSERT_GT(gaps.size(), 50U);
  EXPECT_LT(statistics::mean(gaps), 1'900);
}

// 33 ms a step, of which some 50 works of the main stream start 4 to 5 us late.
TEST(CommandQueues, ARecordingTellsWhatASharedOneCostsAStep) {
  const std::vector<SharedQueue> shared = Recorded("sparse").table.shared_queues;
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared.front().stream, "stream 22");
  EXPECT_GT(shared.front().late_ns, 50'000);
  EXPECT_LT(shared.front().late_ns, 400'000);
  EXPECT_TRUE(Recorded("base").table.shared_queues.empty());
}

TEST(CommandQueues, TwoStreamsShareOneAsOftenAsBothAreInTheSame) {
  EXPECT_EQ(in_one_queue(1.0, 1.0), 1.0);
  EXPECT_EQ(in_one_queue(0.0, 0.0), 1.0);
  EXPECT_EQ(in_one_queue(1.0, 0.0), 0.0);
  EXPECT_EQ(in_one_queue(kUnknownQueue, 0.9), 0.5);
}

}  // namespace
}  // namespace interlace::replay
