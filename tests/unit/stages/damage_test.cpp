// Iterations of which the recording lacks something are not predicted from.
#include "simulator/stages/damage.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "simulator/trace/trace_builder.hpp"

namespace interlace::stages {
namespace {

using trace::LaneId;
using trace::LaneKind;
using trace::RangeKind;
using trace::RankId;
using trace::TraceBuilder;

/// Steps of 100 us, each with a forward, a backward and an optimizer step of one kernel each. What is lost is named by
/// step and part: "3 forward".
class Job {
 public:
  explicit Job(int steps, int ranks = 1) : steps_(steps), ranks_(ranks) {}

  std::set<std::string> without_kernel;
  std::set<std::string> without_launch;
  std::set<std::string> without_range;
  bool calls_between_stages = false;
  int damaged_rank = 0;
  Diagnostics diagnostics;

  Cut cut() {
    for (int r = 0; r < ranks_; ++r) add_rank(r);
    const trace::Trace trace = std::move(builder_).build(diagnostics);
    return stages::cut(trace, torchrec_profile(), diagnostics);
  }

 private:
  static constexpr Nanoseconds kStep = 100'000;

  void add_rank(int number) {
    const RankId rank = builder_.add_rank({.number = number});
    const LaneId thread = builder_.lane(LaneKind::kHostThread, rank, 1, 1);
    const LaneId stream = builder_.lane(LaneKind::kStream, rank, number, 7);
    std::int64_t correlation = 0;
    const auto launch = [&](Nanoseconds at, const std::string& lost) {
      ++correlation;
      const bool damaged = number == damaged_rank;
      if (!damaged || !without_launch.contains(lost)) {
        builder_.add_host_call({thread, builder_.intern("cudaLaunchKernel"), at, 5'000, correlation});
      }
      if (!damaged || !without_kernel.contains(lost)) {
        builder_.add_kernel({stream, builder_.intern("kernel"), at + 8'000, 2'000, correlation}, {});
      }
    };
    for (int step = 0; step < steps_; ++step) {
      Nanoseconds at = step * kStep;
      for (const std::string part : {"forward", "backward", "optimizer"}) {
        const std::string which = std::to_string(step) + " " + part;
        if (number != damaged_rank || !without_range.contains(which)) {
          const std::string name = "## " + part + " " + std::to_string(step) + " ##";
          builder_.add_range({thread, builder_.intern(name), at, 20'000, {}}, {.kind = RangeKind::kAnnotation});
        }
        launch(at + 5'000, which);
        if (calls_between_stages) launch(at + 22'000, "");
        at += 30'000;
      }
    }
  }

  int steps_;
  int ranks_;
  TraceBuilder builder_;
};

/// The step that an iteration of the job is of; its optimizer step of 60 to 80 us ends it.
std::vector<std::int64_t> numbers(const RankCut& rank) {
  std::vector<std::int64_t> steps;
  for (const Iteration& iteration : rank.iterations) steps.push_back(iteration.number.value());
  return steps;
}
using Steps = std::vector<std::int64_t>;

TEST(Damage, ASoundRecordingIsUsedWhole) {
  Job job(4);
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{1, 2, 3}));
  EXPECT_TRUE(job.diagnostics.empty());
}

TEST(Damage, LeavesOutAnIterationThatLacksAKernel) {
  Job job(5);
  job.without_kernel = {"2 backward"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{3, 4}));  // of those before it, 1 remains
  EXPECT_EQ(job.diagnostics.count_of(kDamagedIterations.code), 2);
  EXPECT_EQ(job.diagnostics.count_of("trace.launch_without_device_work"), 1);
}

TEST(Damage, LeavesOutAnIterationThatLacksALaunch) {
  Job job(5);
  job.without_launch = {"2 backward"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{3, 4}));
  EXPECT_EQ(job.diagnostics.count_of(kDamagedIterations.code), 2);
}

// Launches are ordered on their stream: the last work of step 1 is before the lost one, the first of step 3 behind.
TEST(Damage, WhereALaunchMayBeOfTwoIterationsBothAreLeftOut) {
  Job job(6);
  job.without_launch = {"2 optimizer", "3 forward"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{4, 5}));
}

TEST(Damage, LeavesOutTheSameIterationOfTheOtherRanks) {
  Job job(5, 2);
  job.damaged_rank = 1;
  job.without_kernel = {"3 forward"};
  const Cut cut = job.cut();
  EXPECT_EQ(numbers(cut.ranks[0]), (Steps{1, 2}));
  EXPECT_EQ(numbers(cut.ranks[1]), (Steps{1, 2}));
}

TEST(Damage, IsKeptAndToldWhereNothingElseRemains) {
  Job job(3);
  job.without_kernel = {"1 backward", "2 backward"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{1, 2}));
  EXPECT_EQ(job.diagnostics.count_of(kNoSoundIteration.code), 2);
  EXPECT_EQ(job.diagnostics.count_of(kDamagedIterations.code), 0);
}

TEST(Damage, TwoIterationsWithoutAMarkBetweenAreNotOne) {
  Job job(6);
  job.without_range = {"2 optimizer"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{4, 5}));
  EXPECT_EQ(job.diagnostics.count_of(kDamagedIterations.code), 2);
}

TEST(Damage, TwoIterationsWithoutAMarkBetweenAreToldWhereNothingElseRemains) {
  Job job(3);
  job.without_range = {"1 optimizer"};
  EXPECT_EQ(job.cut().iterations(), 1U);
  ASSERT_EQ(job.diagnostics.count_of(kNoSoundIteration.code), 1);
  EXPECT_EQ(job.diagnostics.entries().back().first_place, "rank 0 at 0.080 ms: backward runs 2 times");
}

TEST(Damage, OfTwoIterationsTheWholeOneIsUsed) {
  Job job(3);
  job.without_kernel = {"2 optimizer"};
  job.without_launch = {"2 optimizer"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{1}));
  EXPECT_EQ(job.diagnostics.count_of(kPartialIterations.code), 1);
}

// From the end of the optimizer at 80 us: 2 us, a call of 5 us in no stage, 18 us until the forward's launch at 105 us.
TEST(Cut, HostTimeOfCallsInNoStageGoesToTheNext) {
  Job job(3);
  job.calls_between_stages = true;
  const Cut cut = job.cut();
  const std::vector<Item>& items = cut.ranks[0].iterations[0].items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].gap, 25'000);
  EXPECT_EQ(items[1].gap, 25'000);  // from 110 us on, to 135 us
  EXPECT_EQ(job.diagnostics.count_of(kOutsideAnyStage.code), 6);
}

}  // namespace
}  // namespace interlace::stages
