#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "simulator/analysis/host_blocking.hpp"
#include "simulator/analysis/idle_causes.hpp"
#include "tests/unit/analysis/job.hpp"

namespace interlace::analysis {
namespace {

using trace::MemorySpace;
using trace::SyncKind;

TEST(HostBlocking, SumsByStageAndKindLargestFirst) {
  Job job;
  job.annotate("input_dist_wait 3", 0, 100);
  job.annotate("input_dist_wait 4", 200, 300);
  job.annotate("dense_forward 3", 300, 400);
  job.sync(SyncKind::kStreamSync, 10, 40);    // 30 in input_dist_wait
  job.sync(SyncKind::kStreamSync, 210, 220);  // 10 more
  job.sync(SyncKind::kEventSync, 300, 370);   // 70 in dense_forward
  job.sync(SyncKind::kDeviceSync, 500, 506);  // 6 outside
  const trace::Trace trace = job.build();

  const auto blocks = host_blocking(trace, Annotations(trace), std::vector<StepWindow>{{{0, 600}, 2}});
  const std::vector<HostBlock> expected{{"dense_forward", BlockKind::kEventSync, 35, 0.5},
                                        {"input_dist_wait", BlockKind::kStreamSync, 20, 1.0},
                                        {"", BlockKind::kDeviceSync, 3, 0.5}};
  EXPECT_EQ(blocks, expected);
  EXPECT_EQ(total_blocked(blocks), 58);
}

TEST(HostBlocking, ACopyBlocksWhereItsCallOutlastsIt) {
  Job job;
  job.annotate("s 0", 0, 400);
  job.copy(job.copies, {10, 60}, {20, 55}, MemorySpace::kDevice, MemorySpace::kPageable);      // blocks for 50
  job.copy(job.copies, {100, 110}, {120, 150}, MemorySpace::kPageable, MemorySpace::kDevice);  // staged, goes on
  job.copy(job.copies, {200, 260}, {210, 250}, MemorySpace::kDevice, MemorySpace::kPinned);    // chance: it is Async
  job.copy(job.copies, {300, 330}, {305, 325}, MemorySpace::kDevice, MemorySpace::kPinned, "cudaMemcpy");  // 30
  const trace::Trace trace = job.build();
  const auto blocks = host_blocking(trace, Annotations(trace), std::vector<StepWindow>{{{0, 400}, 1}});
  const std::vector<HostBlock> expected{{"s", BlockKind::kBlockingCopy, 80, 2.0}};
  EXPECT_EQ(blocks, expected);
}

// Gaps of the device in [0,100), and who is to blame:
//   [0,20)   launch at 15, thread blocked [2,12): host blocked 10, host busy 5, launch latency 5
//   [30,40)  launched at 16 (over at 17): held back 10
//   [50,70)  launched at 45, call over at 46 < 50... the kernel of [70,80) is launched at 60: busy 10, latency 10
//   [80,100) nothing follows: unknown 20
TEST(IdleCauses, SplitsEachGapByWhatEndsIt) {
  Job job;
  job.annotate("stage 0", 0, 100);
  job.sync(SyncKind::kStreamSync, 2, 12);
  job.kernel(job.main, 15, 20, 30);
  job.kernel(job.main, 16, 40, 50);
  job.kernel(job.side, 60, 70, 80);
  const trace::Trace trace = job.build();
  const auto causes = idle_causes(trace, Annotations(trace), std::vector<StepWindow>{{{0, 100}, 1}});
  const std::vector<IdleTime> expected{{IdleCause::kUnknown, "", 20},
                                       {IdleCause::kHostBusy, "stage", 15},
                                       {IdleCause::kLaunchLatency, "stage", 15},
                                       {IdleCause::kHostBlocked, "stage", 10},
                                       {IdleCause::kHeldBack, "stage", 10}};
  EXPECT_EQ(causes, expected);
}

// The first gap of the job above in pieces: [0,2) busy, [2,12) blocked, [12,15) busy, [15,20) launch latency.
TEST(IdlePieces, FillTheGapsInTheOrderOfTime) {
  Job job;
  job.annotate("stage 0", 0, 100);
  job.sync(SyncKind::kStreamSync, 2, 12);
  job.kernel(job.main, 15, 20, 30);
  job.kernel(job.main, 16, 40, 50);
  const trace::Trace trace = job.build();
  const auto pieces = idle_pieces(trace, Annotations(trace), std::vector<StepWindow>{{{0, 60}, 1}});
  ASSERT_EQ(pieces.size(), 1U);
  std::vector<std::pair<Interval, IdleCause>> found;
  for (const IdlePiece& piece : pieces[0]) found.emplace_back(piece.span, piece.cause);
  const std::vector<std::pair<Interval, IdleCause>> expected{
      {{0, 2}, IdleCause::kHostBusy},        {{2, 12}, IdleCause::kHostBlocked}, {{12, 15}, IdleCause::kHostBusy},
      {{15, 20}, IdleCause::kLaunchLatency}, {{30, 40}, IdleCause::kHeldBack},   {{50, 60}, IdleCause::kUnknown}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(trace.start(pieces[0][0].next.value()), 20);
  EXPECT_EQ(pieces[0].back().next, std::nullopt);
}

TEST(IdleCauses, AddsUpToTheIdleTime) {
  Job job;
  job.annotate("stage 0", 0, 1000);
  job.kernel(job.main, 5, 100, 300);
  job.kernel(job.side, 6, 250, 420);
  job.sync(SyncKind::kStreamSync, 400, 600);
  job.kernel(job.main, 610, 640, 700);
  const trace::Trace trace = job.build();
  // Window [50,650): idle [50,100) and [420,640) = 270; a gap that the window cuts counts only inside.
  Nanoseconds sum = 0;
  for (const IdleTime& idle : idle_causes(trace, Annotations(trace), std::vector<StepWindow>{{{50, 650}, 1}})) {
    sum += idle.idle_ns;
  }
  EXPECT_EQ(sum, 270);
}

}  // namespace
}  // namespace interlace::analysis
