// What a run tells of the time of its steps.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "simulator/schedule/library.hpp"
#include "tests/unit/engine/training.hpp"

namespace interlace::engine {
namespace {

// A recorder is flushed then, which takes a multiple of a step.
TEST(StepTimes, WhatFollowsTheTimedStepsIsInNoneOfThem) {
  const Workload workload = workload_on("tiny", 1);
  const auto steps = static_cast<std::size_t>(workload.steps);
  for (const std::size_t cooldown : {std::size_t{0}, std::size_t{2}}) {
    constexpr std::chrono::seconds kPause{1};
    TrainOptions training;
    training.warmup = 1;
    training.cooldown = static_cast<std::int64_t>(cooldown);
    training.after_timed = [kPause] { std::this_thread::sleep_for(kPause); };
    const RankResult result = run_on_cpu(schedule::find("torchrec/base"), workload, {}, {}, training).front();
    ASSERT_EQ(result.step_seconds.size(), steps);
    for (std::size_t step = 0; step < steps - cooldown; ++step) {
      EXPECT_LT(result.step_seconds[step], std::chrono::duration<double>(kPause).count()) << step << " of " << steps;
    }
  }
}

}  // namespace
}  // namespace interlace::engine
