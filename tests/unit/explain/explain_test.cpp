#include "simulator/explain/explain.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/explain/training_run.hpp"

namespace interlace::explain {
namespace {

constexpr int kMain = 0;
constexpr int kSide = 1;

/// A loop whose device is the bottleneck, with a side stream that main waits for; and the faults to plant in it.
struct Loop {
  Nanoseconds forward = 5'000;
  Nanoseconds lookup = 9'000;  ///< on the side stream, beside 5,000 of forward: main waits for 4,000 of it
  Nanoseconds host_gap = 0;    ///< before each step's launches
  bool waits_for_lookup = true;
  bool host_waits = false;  ///< for main, at the end of each step
  int stalled_step = -1;    ///< before this one's launches the host stands still for eight steps

  int steps = 4;

  [[nodiscard]] trace::Trace run() const {
    TrainingRun job;
    for (int i = 0; i < steps; ++i) {
      job.stage("embedding_lookup", i);
      job.think(i == stalled_step ? 100'000 : host_gap);
      job.wait(kSide, kMain);
      job.kernel(kSide, "lookup", lookup);
      job.stage("dense_forward", i);
      job.kernel(kMain, "gemm", forward);
      if (waits_for_lookup) job.wait(kMain, kSide);
      job.stage("backward", i);
      job.kernel(kMain, "gradient", 3'000);
      job.stage("optimizer_step", i);
      job.kernel(kMain, "update", 1'000);
      if (host_waits) job.synchronise(kMain);
    }
    return job.build();
  }
};

Explanation explained(const trace::Trace& measured, const trace::Trace& predicted) {
  const ExplainedRun before(measured);
  const ExplainedRun now(predicted);
  Diagnostics diagnostics;
  Explanation result = explain(before.run(), now.run(), diagnostics, diagnostics);
  Nanoseconds sum = 0;
  for (const Part& part : result.parts) sum += part.effect_ns;
  EXPECT_EQ(sum, result.difference_ns());
  return result;
}

TEST(Explain, OfTheSameRunIsNothing) {
  const Explanation same = explained(Loop{}.run(), Loop{}.run());
  EXPECT_EQ(same.measured_step_ns, 9'000 + 3'000 + 1'000);
  EXPECT_EQ(same.measured_steps, 3U);
  EXPECT_TRUE(same.parts.empty());
  EXPECT_DOUBLE_EQ(same.matching.matched_measured, 4);
  EXPECT_DOUBLE_EQ(same.matching.measured, 4);
  EXPECT_TRUE(same.matching.unmatched.empty());
  EXPECT_TRUE(same.matching.operations.empty());
  EXPECT_TRUE(same.matching.moved.empty());
  EXPECT_TRUE(same.matching.uneven.empty());
}

// Steps end with the optimizers: of seven the fifth has the stall in it, and four lie before it.
TEST(Explain, LeavesOutStepsInWhichTheHostStoodStill) {
  const Explanation stalled = explained(Loop{.stalled_step = 5, .steps = 8}.run(), Loop{}.run());
  EXPECT_EQ(stalled.measured_step_ns, 13'000);
  EXPECT_EQ(stalled.measured_steps, 4U);
  EXPECT_EQ(stalled.all_measured_steps, 7U);
  EXPECT_EQ(stalled.predicted_steps, 3U);
  EXPECT_EQ(stalled.all_predicted_steps, 3U);
  EXPECT_TRUE(stalled.parts.empty());
}

TEST(Explain, NamesAKernelThatTakesLonger) {
  const Explanation longer = explained(Loop{}.run(), Loop{.lookup = 9'700}.run());
  EXPECT_EQ(longer.parts,
            (std::vector<Part>{{Cause::kDurations, "embedding_lookup", "embedding_lookup", "lookup", 700}}));
}

// The kernel that grows was hidden under the lookup: only what sticks out counts.
TEST(Explain, CountsOnlyWhatALongerKernelCosts) {
  const Explanation longer = explained(Loop{}.run(), Loop{.forward = 9'600}.run());
  ASSERT_EQ(longer.difference_ns(), 600);
  EXPECT_EQ(longer.parts, (std::vector<Part>{{Cause::kDurations, "dense_forward", "dense_forward", "gemm", 600}}));
  ASSERT_EQ(longer.matching.operations.size(), 1U);
  EXPECT_EQ(longer.matching.operations.front().predicted_ns - longer.matching.operations.front().measured_ns, 4'600);
}

TEST(Explain, NamesAWaitThatWasDropped) {
  const Explanation dropped = explained(Loop{}.run(), Loop{.lookup = 9'000, .waits_for_lookup = false}.run());
  ASSERT_EQ(dropped.difference_ns(), -4'000);
  EXPECT_EQ(dropped.parts, (std::vector<Part>{{Cause::kWaits, "backward", "embedding_lookup", "lookup", -4'000}}));
  const Explanation added = explained(Loop{.waits_for_lookup = false}.run(), Loop{}.run());
  EXPECT_EQ(added.parts, (std::vector<Part>{{Cause::kWaits, "backward", "embedding_lookup", "lookup", 4'000}}));
}

TEST(Explain, NamesASlowerHost) {
  const Explanation slower =
      explained(Loop{.host_waits = true}.run(), Loop{.host_gap = 2'500, .host_waits = true}.run());
  ASSERT_EQ(slower.difference_ns(), 2'500);
  EXPECT_EQ(slower.of(Cause::kHost), 2'500);
  ASSERT_FALSE(slower.parts.empty());
  EXPECT_EQ(slower.parts.front().cause, Cause::kHost);
  EXPECT_EQ(slower.parts.front().of_stage, "embedding_lookup");
  EXPECT_EQ(slower.parts.front().effect_ns, 2'500);
}

/// The side stream waits for "first" of main, which runs in front of "other" or behind it.
trace::Trace ordered(bool swapped) {
  TrainingRun job;
  for (int i = 0; i < 4; ++i) {
    job.stage("dense_forward", i);
    if (swapped) job.kernel(kMain, "other", 2'000);
    job.kernel(kMain, "first", 1'000);
    job.wait(kSide, kMain);
    if (!swapped) job.kernel(kMain, "other", 2'000);
    job.stage("embedding_lookup", i);
    job.kernel(kSide, "lookup", 6'000);
    job.stage("optimizer_step", i);
    job.wait(kMain, kSide);
    job.kernel(kMain, "update", 500);
  }
  return job.build();
}

TEST(Explain, NamesTwoKernelsThatSwappedPlaces) {
  const Explanation swapped = explained(ordered(false), ordered(true));
  ASSERT_EQ(swapped.difference_ns(), 2'000);
  EXPECT_EQ(swapped.parts, (std::vector<Part>{{Cause::kOrder, "dense_forward", "dense_forward", "other", 2'000}}));
  ASSERT_EQ(swapped.matching.moved.size(), 1U);
  EXPECT_EQ(swapped.matching.moved.front().stage, "dense_forward");
  EXPECT_DOUBLE_EQ(swapped.matching.moved.front().works, 1);
}

// A recording ends: behind its last steps no further batch comes that would be copied and exchanged.
TEST(Explain, ShowsWhatDoesNotRunInEachMeasuredStep) {
  TrainingRun job;
  TrainingRun steady;
  for (TrainingRun* run : {&job, &steady}) {
    for (int i = 0; i < 3; ++i) {
      run->stage("optimizer_step", i);
      run->kernel(kMain, "update", 1'000);
      if (run == &job && i > 0) continue;
      run->stage("copy_batch_to_gpu", i + 1);
      run->wait(kSide, kMain);
      run->kernel(kSide, "copy", 300);
      run->kernel(kSide, "permute", 300);
    }
  }
  const Matching matching = explained(job.build(), steady.build()).matching;
  EXPECT_DOUBLE_EQ(matching.matched_measured, matching.measured);
  ASSERT_EQ(matching.uneven.size(), 1U);
  EXPECT_EQ(matching.uneven.front().stage, "copy_batch_to_gpu");
  EXPECT_DOUBLE_EQ(matching.uneven.front().measured, 1);
  EXPECT_DOUBLE_EQ(matching.uneven.front().predicted, 2);
}

TEST(Explain, ShowsWhatOnlyOneRunHas) {
  TrainingRun job;
  TrainingRun with_more;
  for (TrainingRun* run : {&job, &with_more}) {
    for (int i = 0; i < 3; ++i) {
      run->stage("optimizer_step", i);
      if (run == &with_more) run->kernel(kMain, "norm", 300);
      run->kernel(kMain, "update", 1'000);
    }
  }
  const Explanation more = explained(job.build(), with_more.build());
  EXPECT_EQ(more.difference_ns(), 300);
  ASSERT_EQ(more.matching.unmatched.size(), 1U);
  EXPECT_FALSE(more.matching.unmatched.front().measured);
  EXPECT_EQ(more.matching.unmatched.front().operation, "norm");
  EXPECT_DOUBLE_EQ(more.matching.unmatched.front().works, 1);
  EXPECT_EQ(more.matching.unmatched.front().time_ns, 300);
  ASSERT_EQ(more.parts.size(), 1U);
  EXPECT_EQ(more.parts.front().operation, "norm");
}

// As the engine annotates: every stage lies in the range of its iteration.
TEST(Explain, FindsStepsWithinIterations) {
  TrainingRun job;
  for (int i = 0; i < 3; ++i) {
    job.begin_iteration(i);
    job.stage("optimizer_step", i);
    job.kernel(kMain, "update", 1'000);
    job.end_iteration();
  }
  const ExplainedRun run(job.build());
  ASSERT_EQ(run.run().steps.size(), 1U);
  ASSERT_EQ(run.run().steps.front().size(), 2U);
  EXPECT_EQ(run.run().steps.front().front().length(), 1'000);
}

TEST(Explain, RefusesWhatCannotBeCompared) {
  TrainingRun once;
  once.stage("optimizer_step", 0);
  once.kernel(kMain, "update", 10);
  const ExplainedRun short_run(once.build());
  EXPECT_THROW(static_cast<void>(short_run.run()), Error);

  TrainingRun other_rank(3);
  for (int i = 0; i < 3; ++i) {
    other_rank.stage("optimizer_step", i);
    other_rank.kernel(kMain, "update", 10);
  }
  const ExplainedRun other(other_rank.build());
  const ExplainedRun loop(Loop{}.run());
  Diagnostics diagnostics;
  EXPECT_THROW(static_cast<void>(explain(loop.run(), other.run(), diagnostics, diagnostics)), Error);
}

}  // namespace
}  // namespace interlace::explain
