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
  std::set<int> with_second_backward;
  std::vector<std::string> more_backwards;  ///< ranges that each step has besides; "N": its number
  bool in_epoch = false;
  bool nests_optimizer = false;
  bool saves_on_another_thread = false;
  std::vector<int> first_steps = {};  ///< by rank; none: 0
  int damaged_rank = 0;
  Diagnostics diagnostics;

  Cut cut(const Profile& profile = torchrec_profile()) {
    for (int r = 0; r < ranks_; ++r) add_rank(r);
    const trace::Trace trace = std::move(builder_).build(diagnostics);
    return stages::cut(trace, profile, diagnostics);
  }

 private:
  static constexpr Nanoseconds kStep = 100'000;

  void add_rank(int number) {
    const RankId rank = builder_.add_rank({.number = number});
    if (saves_on_another_thread) {
      builder_.add_range({builder_.lane(LaneKind::kHostThread, rank, 1, 9),
                          builder_.intern("## optimizer state ##"),
                          30'000,
                          5'000,
                          {}},
                         {.kind = RangeKind::kAnnotation});
    }
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
    const auto annotate = [&](const std::string& name, Nanoseconds at, Nanoseconds length) {
      builder_.add_range({thread, builder_.intern(name), at, length, {}}, {.kind = RangeKind::kAnnotation});
    };
    if (in_epoch) annotate("epoch", 0, steps_ * kStep);
    const int first = first_steps.empty() ? 0 : first_steps[static_cast<std::size_t>(number)];
    for (int step = first; step < first + steps_; ++step) {
      Nanoseconds at = step * kStep;
      if (with_second_backward.contains(step)) annotate("## backward ##", at + 52'000, 5'000);
      for (std::size_t i = 0; i < more_backwards.size(); ++i) {
        std::string name = more_backwards[i];
        if (const std::size_t n = name.find('N'); n != std::string::npos) name.replace(n, 1, std::to_string(step));
        annotate(name, at + 51'000 + static_cast<Nanoseconds>(i) * 2'000, 1'000);
      }
      for (const std::string part : {"forward", "backward", "optimizer"}) {
        const std::string which = std::to_string(step) + " " + part;
        if (number != damaged_rank || !without_range.contains(which)) {
          annotate("## " + part + " " + std::to_string(step) + " ##", at, 20'000);
        }
        if (nests_optimizer && part == "optimizer") annotate("## optimizer of PyTorch ##", at + 2'000, 10'000);
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

// PyTorch has a range of its own in each optimizer step, and a thread may save the optimizer's state.
TEST(Damage, IterationsEndOnceAndOnTheLoopsThread) {
  Job nested(4);
  nested.nests_optimizer = true;
  EXPECT_EQ(numbers(nested.cut().ranks[0]), (Steps{1, 2, 3}));
  Job saved(4);
  saved.saves_on_another_thread = true;
  EXPECT_EQ(numbers(saved.cut().ranks[0]), (Steps{1, 2, 3}));
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

// One that accumulates fewer gradients than the others does not make these two iterations each.
TEST(Damage, AnIterationWithFewerBackwardsIsNotTheUsualOne) {
  Job job(6);
  job.with_second_backward = {0, 1, 2, 4, 5};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{1, 2, 3, 4, 5}));
  EXPECT_EQ(job.diagnostics.count_of(kDamagedIterations.code), 0);
}

// Of two recorded steps one is whole. Its backward may be annotated in parts, with a name or the step's number for
// each, or run several times to accumulate gradients, as that of the step before shows.
TEST(Damage, ALoneIterationMayHaveSeveralRangesOfBackward) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"## emb_backward N ##"}, {"## backward N ##", "## backward N ##"}, {"## backward ##", "## backward ##"}}) {
    Job job(2);
    job.more_backwards = more;
    Profile profile = torchrec_profile();
    profile.backward = "^## (emb_)?backward";
    EXPECT_EQ(numbers(job.cut(profile).ranks[0]), Steps{1}) << more[0];
    EXPECT_EQ(job.diagnostics.count_of(kNoSoundIteration.code), 0) << more[0];
  }
}

TEST(Damage, ALostMarkShowsBesideABackwardInParts) {
  Job job(3);
  job.more_backwards = {"## emb_backward N ##", "## backward N ##"};
  job.without_range = {"1 optimizer"};
  EXPECT_EQ(job.cut().iterations(), 1U);
  EXPECT_EQ(job.diagnostics.count_of(kNoSoundIteration.code), 1);
}

TEST(Damage, OfTwoIterationsTheWholeOneIsUsed) {
  Job job(3);
  job.without_kernel = {"2 optimizer"};
  job.without_launch = {"2 optimizer"};
  EXPECT_EQ(numbers(job.cut().ranks[0]), (Steps{1}));
  EXPECT_EQ(job.diagnostics.count_of(kPartialIterations.code), 1);
}

TEST(Cut, IterationsOfRanksThatBeganAtOtherTimesGoTogether) {
  for (const auto& [first_steps, common] : std::vector<std::pair<std::vector<int>, Steps>>{
           {{0, 2}, {3, 4, 5}}, {{2, 0}, {3, 4, 5}}, {{1, 1}, {2, 3, 4, 5, 6}}}) {
    Job job(6, 2);
    job.first_steps = first_steps;
    const Cut cut = job.cut();
    for (const RankCut& rank : cut.ranks) EXPECT_EQ(numbers(rank), common) << first_steps[0];
  }
}

TEST(Cut, ClocksThatNobodyAlignedDoNotKeepRanksApart) {
  Job job(4, 2);
  job.first_steps = {0, 20};
  for (const RankCut& rank : job.cut().ranks) EXPECT_EQ(rank.iterations.size(), 3U);
}

// From the optimizer's launch, until 70 us, to the end of its range at 80 us.
TEST(Cut, HostTimeBehindTheLastCallIsKept) {
  Job job(3);
  EXPECT_EQ(job.cut().ranks[0].iterations[0].tail, 10'000);
}

// Not since the outermost range of all: the ids of an epoch's steps would grow from step to step.
TEST(Cut, ModulesAreCountedWithinTheirStage) {
  Job job(4);
  job.in_epoch = true;
  const Cut cut = job.cut(parse_profile(R"({
    "interlace_annotations": 1, "name": "counts", "iteration_end": "^## optimizer", "backward": "^## backward",
    "rules": [{"stage": "dense_forward", "within": ["^## forward"], "module": {"count": "^## forward"}},
              {"stage": "backward", "within": ["^## backward"]},
              {"stage": "optimizer_step", "within": ["^## optimizer"]}]})",
                                        "test"));
  EXPECT_EQ(cut.modules, std::vector<std::string>{"module 0"});
  for (const Iteration& iteration : cut.ranks[0].iterations) EXPECT_EQ(iteration.items[0].segment.module, ModuleId{0});
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
