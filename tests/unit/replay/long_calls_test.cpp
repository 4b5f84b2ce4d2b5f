#include "simulator/replay/long_calls.hpp"

#include <gtest/gtest.h>

#include <string>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/unit/graph/recorded_job.hpp"

namespace interlace::replay {
namespace {

using enum trace::MemorySpace;

constexpr Bytes kLarge = 100'000'000;

/// A job that begins each step of 10 ms with one call of 5 ms: the test says which.
class LongCalls : public testing::Test {
 protected:
  template <class FirstCall>
  void record(FirstCall first_call) {
    for (Nanoseconds step = 0; step < 5; ++step) {
      const Nanoseconds t = 1'000 + step * 10'000;
      job.range(thread, "## copy_batch_to_gpu ##", t, t + 5'100);
      first_call(t + 50, t + 5'050);
      launch("forward", t + 5'200, 1'000);
      launch("backward", t + 6'600, 2'000);
      launch("optimizer", t + 9'300, 20);
    }
  }
  void launch(const std::string& stage, Nanoseconds at, Nanoseconds takes) {
    job.range(thread, "## " + stage + " ##", at, at + 300);
    job.launch(thread, at + 50, compute, stage, at + 60, at + 60 + takes);
  }
  void copy_each_step(Bytes bytes, Nanoseconds ends_behind_call) {
    record([&](Nanoseconds from, Nanoseconds to) {
      job.copy(thread, from, to, copies, "copy", from + 10, to + ends_behind_call, kPageable, kDevice, bytes);
    });
  }

  /// Of a step as recorded, replayed.
  double step_ms() {
    const trace::Trace trace = job.build();
    const stages::Cut cut = stages::cut(trace, stages::torchrec_profile(), said);
    const SiteTable sites = find_sites(trace, cut, said);
    const schedule::Schedule schedule = schedule::parse(R"({"interlace_schedule": 1, "name": "test/copies",
      "streams": {"main": {}, "memcpy": {}}, "iteration": [
      {"stage": "copy_batch_to_gpu", "batch": 1, "stream": "memcpy"},
      {"stage": "dense_forward", "batch": 0, "stream": "main"}, {"stage": "backward", "batch": 0, "stream": "main"},
      {"stage": "optimizer_step", "batch": 0, "stream": "main"}]})",
                                                        "test");
    SimulationOptions options;
    options.as_recorded = true;
    options.jitter = false;
    return statistics::mean(
               simulate(compile(schedule, cut, sites), sites, on_recorded_machine(options, sites)).steps_ns) /
           1e6;
  }

  graph::RecordedJob job;
  trace::RankId rank = job.add_rank();
  trace::LaneId thread = job.thread(rank);
  trace::LaneId compute = job.stream(rank, 7);
  trace::LaneId copies = job.stream(rank, 20);
  Diagnostics said;
};

TEST_F(LongCalls, ACopyFromPageableMemoryBlocksTheHost) {
  copy_each_step(kLarge, -10);
  EXPECT_NEAR(step_ms(), 10.0, 0.1);
  EXPECT_EQ(said.count_of("replay.long_calls"), 0);
}

TEST_F(LongCalls, OneWhoseLastPieceIsOnItsWayWhenTheCallReturnsTakesTheHostAsLong) {
  copy_each_step(kLarge, 20);
  EXPECT_NEAR(step_ms(), 10.0, 0.1);
}

TEST_F(LongCalls, ALargeGraphTakesItsTimeToLaunch) {
  record([&](Nanoseconds from, Nanoseconds to) {
    job.launch_of(thread, "cudaGraphLaunch", from, to, compute, from + 10, 90);
  });
  EXPECT_NEAR(step_ms(), 10.0, 0.1);
  EXPECT_EQ(said.count_of("replay.long_calls"), 0);
}

TEST_F(LongCalls, WhatIsTakenForWaitingIsCounted) {
  record([&](Nanoseconds from, Nanoseconds to) {
    job.launch_of(thread, "cudaLaunchKernel", from, to, compute, from + 10, 1);
  });
  EXPECT_NEAR(step_ms(), 5.0, 0.1);
  EXPECT_EQ(said.count_of("replay.long_calls"), 4) << "one a whole step";
}

}  // namespace
}  // namespace interlace::replay
