#include "simulator/schedule/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {
namespace {

constexpr StreamIndex kMain{0};

StageStep stage(Stage what, std::int32_t batch = 0) { return {.stage = what, .batch = batch, .stream = kMain}; }

// The steps in lines 1, 2, ...; those of a for_each count on.
Schedule schedule_of(std::vector<Step> steps) {
  Schedule schedule{.name = "x", .source = "x.json", .streams = {{.name = "main"}}, .iteration = std::move(steps)};
  int line = 0;
  for (Step& step : schedule.iteration) {
    step.line = ++line;
    if (auto* group = std::get_if<ForEachModule>(&step.action)) {
      for (Step& inner : group->steps) inner.line = ++line;
    }
  }
  return schedule;
}

struct Found {
  int line;
  std::string code;
  bool operator==(const Found&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Found& found) { return out << found.line << " " << found.code; }

std::vector<Found> problems_of(std::vector<Step> steps) {
  std::vector<Found> found;
  for (const Problem& problem : find_problems(schedule_of(std::move(steps)))) {
    found.push_back({problem.line, std::string(problem.code.name)});
  }
  return found;
}

using Problems = std::vector<Found>;

// The shortest whole chain: each stage of batch i, in order.
std::vector<Step> chain() {
  return {{stage(Stage::kNextBatch)},       {stage(Stage::kCopyBatchToGpu)},  {stage(Stage::kInputDistStart)},
          {stage(Stage::kInputDistWait)},   {stage(Stage::kInputDistFinish)}, {stage(Stage::kEmbeddingLookup)},
          {stage(Stage::kOutputDistStart)}, {stage(Stage::kOutputDistWait)},  {stage(Stage::kDenseForward)},
          {stage(Stage::kBackward)},        {stage(Stage::kOptimizerStep)},   {stage(Stage::kZeroGrad)}};
}

TEST(Validate, AcceptsAChain) { EXPECT_EQ(problems_of(chain()), Problems{}); }

TEST(Validate, AChainWithStagesSwappedIsOutOfOrder) {
  // Each of these reads what the one before makes. zero_grad and optimizer_step share only things that live on.
  for (std::size_t i = 0; i + 3 < chain().size(); ++i) {
    auto steps = chain();
    std::swap(steps[i], steps[i + 1]);
    EXPECT_EQ(problems_of(steps), (Problems{{static_cast<int>(i) + 1, "schedule.batch_order"}})) << i;
  }
}

TEST(Validate, AStageRunsNoEarlierThanWhatItReads) {
  for (std::size_t i = 0; i + 3 < chain().size(); ++i) {
    auto ahead = chain();
    std::get<StageStep>(ahead[i + 1].action).batch = 1;  // an iteration before its producer
    const auto found = problems_of(ahead);
    ASSERT_FALSE(found.empty()) << i;
    EXPECT_EQ(found[0], (Found{static_cast<int>(i) + 2, "schedule.batch_order"})) << i;

    auto behind = chain();
    for (std::size_t k = 0; k <= i; ++k) std::get<StageStep>(behind[k].action).batch = 1;
    EXPECT_EQ(problems_of(behind), Problems{}) << i;  // all producers an iteration ahead: a pipeline
  }
}

TEST(Validate, AProducerOfAFartherBatchMayStandBelow) {
  EXPECT_EQ(problems_of({{stage(Stage::kDenseForward)}, {stage(Stage::kCopyBatchToGpu, 1)}}), Problems{});
  EXPECT_EQ(problems_of({{stage(Stage::kDenseForward)}, {stage(Stage::kCopyBatchToGpu, 0)}}),
            (Problems{{1, "schedule.batch_order"}}));
}

TEST(Validate, NeedsTheStagesThatMakeWhatIsRead) {
  const auto without = [](std::size_t left_out) {
    auto steps = chain();
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(left_out));
    return problems_of(steps);
  };
  EXPECT_EQ(without(0), Problems{});                                 // a batch may lie in host memory already
  EXPECT_EQ(without(1), (Problems{{2, "schedule.missing_stage"}}));  // input_dist_start reads the batch
  EXPECT_EQ(without(2), (Problems{{3, "schedule.missing_stage"}}));  // input_dist_wait reads the splits
  EXPECT_EQ(without(3), (Problems{{3, "schedule.missing_stage"}, {4, "schedule.missing_stage"}}));
  EXPECT_EQ(without(4), (Problems{{4, "schedule.missing_stage"}, {5, "schedule.missing_stage"}}));
  EXPECT_EQ(without(5), (Problems{{6, "schedule.missing_stage"}}));
  EXPECT_EQ(without(6), (Problems{{6, "schedule.missing_stage"}, {7, "schedule.missing_stage"}}));
  EXPECT_EQ(without(7), (Problems{{7, "schedule.missing_stage"}}));  // the all-to-all is never taken up
  EXPECT_EQ(without(8), (Problems{{9, "schedule.missing_stage"}}));  // backward of nothing
  EXPECT_EQ(without(9), Problems{});                                 // evaluation only
}

TEST(Validate, StagesStandOnce) {
  auto steps = chain();
  steps.push_back({stage(Stage::kZeroGrad)});
  EXPECT_EQ(problems_of(steps), (Problems{{13, "schedule.repeated_stage"}}));
  steps.back() = {stage(Stage::kCompute)};
  steps.push_back({stage(Stage::kCompute)});
  EXPECT_EQ(problems_of(steps), Problems{});  // compute stands for anything
}

TEST(Validate, StagesStandOnceForEachNamedModule) {
  const auto of = [](const char* module, Stage what) {
    StageStep step = stage(what);
    step.module = module;
    return Step{step};
  };
  const Step copy{stage(Stage::kCopyBatchToGpu)};
  const auto twice = [&](const Step& one, const Step& other) {
    const auto found = problems_of({copy, one, other});
    return std::ranges::count(found, "schedule.repeated_stage", &Found::code);
  };
  constexpr Stage kStart = Stage::kInputDistStart;
  EXPECT_EQ(twice(of("a", kStart), of("b", kStart)), 0);
  EXPECT_EQ(twice(of("a", kStart), of("a", kStart)), 1);
  EXPECT_EQ(twice(of("a", kStart), {stage(kStart)}), 1);
}

TEST(Validate, ModulesHaveChainsOfTheirOwn) {
  const auto lookups = [](const char* reader) {
    auto steps = chain();
    StageStep a = stage(Stage::kInputDistFinish);
    a.module = "a";
    steps[4] = {a};
    StageStep lookup = stage(Stage::kEmbeddingLookup);
    lookup.module = reader;
    steps[5] = {lookup};
    StageStep send = stage(Stage::kOutputDistStart);
    send.module = reader;
    steps[6] = {send};
    return problems_of(steps);
  };
  EXPECT_EQ(lookups("a"), Problems{});
  // The exchange of b's features is not taken up, its kjt is made nowhere, and nothing of a is exchanged.
  EXPECT_EQ(lookups("b"),
            (Problems{{4, "schedule.missing_stage"}, {6, "schedule.missing_stage"}, {8, "schedule.missing_stage"}}));
}

/// chain(), with a lookup of "a" and one of "b" instead of the one of all.
std::vector<Step> chain_of_two_lookups() {
  auto steps = chain();
  StageStep lookup = stage(Stage::kEmbeddingLookup);
  lookup.module = "a";
  steps[5] = {lookup};
  lookup.module = "b";
  steps.insert(steps.begin() + 6, {lookup});
  return steps;
}

TEST(Validate, AStageOfAllModulesNeedsTheStagesOfEach) {
  auto steps = chain_of_two_lookups();
  EXPECT_EQ(problems_of(steps), Problems{});
  std::get<StageStep>(steps[7].action).module = "a";
  // b is looked up and not sent; output_dist_wait waits for both.
  const auto problems = find_problems(schedule_of(steps));
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].text, "stage \"embedding_lookup\" of module \"b\": makes looked_up(i), which no step takes up");
  EXPECT_EQ(problems[1].text,
            "stage \"output_dist_wait\": reads output_exchange(i) of module \"b\", which no step makes; add stage "
            "\"output_dist_start\"");
}

TEST(Validate, OrderInsideForEachIsThatOfItsSteps) {
  const auto grouped = [](std::vector<Step> inner) {
    auto steps = chain();
    steps[4] = {ForEachModule{std::move(inner)}};
    steps.erase(steps.begin() + 5, steps.begin() + 7);
    return problems_of(steps);
  };
  const Step finish{stage(Stage::kInputDistFinish)};
  const Step lookup{stage(Stage::kEmbeddingLookup)};
  const Step send{stage(Stage::kOutputDistStart)};
  EXPECT_EQ(grouped({finish, lookup, send}), Problems{});
  EXPECT_EQ(grouped({lookup, finish, send}), (Problems{{6, "schedule.batch_order"}}));
}

TEST(Validate, AFeatureProcessorStandsBetweenInputDistAndLookup) {
  auto steps = chain();
  steps.insert(steps.begin() + 5, {stage(Stage::kFeatureProcessor)});
  EXPECT_EQ(problems_of(steps), Problems{});
  std::swap(steps[5], steps[6]);
  EXPECT_EQ(problems_of(steps), (Problems{{6, "schedule.batch_order"}}));  // the lookup reads the kjt too early
}

TEST(Validate, BackwardInParts) {
  const auto part = [](Part which) {
    StageStep step = stage(Stage::kBackward);
    step.part = which;
    return Step{step};
  };
  const Step whole{stage(Stage::kBackward)};
  const Step forward{stage(Stage::kDenseForward)};
  EXPECT_EQ(problems_of({forward, part(Part::kDense), part(Part::kEmbedding)}), Problems{});
  EXPECT_EQ(problems_of({forward, part(Part::kEmbedding), part(Part::kDense)}),
            (Problems{{2, "schedule.batch_order"}}));
  EXPECT_EQ(problems_of({forward, part(Part::kDense)}), (Problems{{2, "schedule.incomplete_backward"}}));
  EXPECT_EQ(problems_of({forward, part(Part::kEmbedding)}),
            (Problems{{2, "schedule.incomplete_backward"}, {2, "schedule.missing_stage"}}));
  EXPECT_EQ(problems_of({forward, part(Part::kDense), part(Part::kEmbedding), whole}),
            (Problems{{4, "schedule.incomplete_backward"}}));
}

TEST(Validate, TheTablesOfEachNamedModuleAreUpdated) {
  const auto part = [](Part which, std::optional<std::string> module = std::nullopt) {
    StageStep step = stage(Stage::kBackward);
    step.part = which;
    step.module = std::move(module);
    return Step{step};
  };
  const auto with = [&](std::vector<Step> backward) {
    auto steps = chain_of_two_lookups();
    steps[10] = part(Part::kDense);
    steps.insert(steps.begin() + 11, backward.begin(), backward.end());
    return problems_of(steps);
  };
  EXPECT_EQ(with({part(Part::kEmbedding)}), Problems{});
  EXPECT_EQ(with({part(Part::kEmbedding, "b"), part(Part::kEmbedding, "a")}), Problems{});
  EXPECT_EQ(with({part(Part::kEmbedding, "a")}), (Problems{{12, "schedule.incomplete_backward"}}));
  // What the lookup of all modules reads is not all updated where the model has more of them.
  auto all = chain();
  all[9] = part(Part::kDense);
  all.insert(all.begin() + 10, part(Part::kEmbedding, "a"));
  EXPECT_EQ(problems_of(all), (Problems{{11, "schedule.incomplete_backward"}}));
  auto whole = chain();
  std::get<StageStep>(whole[9].action).module = "a";
  EXPECT_EQ(problems_of(whole), (Problems{{10, "schedule.misplaced_field"}}));
}

TEST(Validate, ModulesAreNamedWhereAStageGoesModuleByModule) {
  auto dense = chain();
  std::get<StageStep>(dense[8].action).module = "a";
  EXPECT_EQ(problems_of(dense), (Problems{{9, "schedule.misplaced_field"}}));
  StageStep own = stage(Stage::kCompute);
  own.module = "a";
  EXPECT_EQ(problems_of({{own}}), Problems{});
}

TEST(Validate, WhatGoesModuleByModuleMayBeRepeated) {
  const auto repeated = [](const StageStep& step) { return problems_of({{ForEachModule{{{step}}}}}); };
  const auto misplaced = [&](const StageStep& step) {
    return std::ranges::count(repeated(step), Found{2, "schedule.misplaced_field"});
  };
  for (std::size_t i = 0; i < kStages; ++i) {
    const StageStep step = stage(static_cast<Stage>(i));
    const bool may = goes_module_by_module(step) || names_its_own(step.stage);
    EXPECT_EQ(misplaced(step), may ? 0 : 1) << to_string(step.stage);
  }
  StageStep part = stage(Stage::kBackward);
  part.part = Part::kEmbedding;
  EXPECT_EQ(misplaced(part), 0);
  part.part = Part::kDense;
  EXPECT_EQ(misplaced(part), 1);
}

TEST(Validate, MemoryWordsAreForResults) {
  const auto with = [](std::size_t at, auto change) {
    auto steps = chain();
    change(std::get<StageStep>(steps[at].action));
    return problems_of(steps);
  };
  const auto until = [](Stage stage) { return [stage](StageStep& step) { step.kept_until = KeptUntil{stage}; }; };
  EXPECT_EQ(with(1, until(Stage::kBackward)), Problems{});
  EXPECT_EQ(with(1, until(Stage::kPrefetch)), (Problems{{2, "schedule.missing_stage"}}));
  for (const std::size_t without_results : {0U, 10U, 11U}) {
    const Problems misplaced{{static_cast<int>(without_results) + 1, "schedule.misplaced_field"}};
    EXPECT_EQ(with(without_results, until(Stage::kBackward)), misplaced);
    EXPECT_EQ(with(without_results, [](StageStep& step) { step.alloc = kMain; }), misplaced);
    EXPECT_EQ(with(without_results, [](StageStep& step) { step.record_stream = {kMain}; }), misplaced);
    const auto frees = [](StageStep& step) {
      step.frees = {"batch"};
      step.record_stream = {kMain};
    };
    const Problems too_early{{1, "schedule.batch_order"}};  // next_batch stands above the copy
    EXPECT_EQ(with(without_results, frees), without_results == 0 ? too_early : Problems{});
  }
  EXPECT_EQ(with(9, [](StageStep& step) { step.frees = {"cache_rows"}; }), (Problems{{10, "schedule.missing_stage"}}));
}

TEST(Validate, NamedDataIsMadeBeforeItIsRead) {
  StageStep make = stage(Stage::kCompute);
  make.writes = {"x"};
  StageStep use = stage(Stage::kCompute);
  use.reads = {"x"};
  EXPECT_EQ(problems_of({{make}, {use}}), Problems{});
  EXPECT_EQ(problems_of({{use}, {make}}), (Problems{{1, "schedule.batch_order"}}));
  EXPECT_EQ(problems_of({{use}}), (Problems{{1, "schedule.missing_stage"}}));
  use.writes = {"x"};
  EXPECT_EQ(problems_of({{use}}), (Problems{{1, "schedule.missing_stage"}}));  // by itself only
}

TEST(Validate, DataMayBeWrittenAgainBelowItsReader) {
  StageStep make = stage(Stage::kCompute);
  make.writes = {"x"};
  StageStep use = stage(Stage::kCompute);
  use.reads = {"x"};
  EXPECT_EQ(problems_of({{make}, {use}, {make}}), Problems{});
  EXPECT_EQ(problems_of({{use}, {make}, {make}}), (Problems{{1, "schedule.batch_order"}, {1, "schedule.batch_order"}}));
  make.writes = {"batch"};
  use.reads = {"batch"};
  EXPECT_EQ(problems_of({{stage(Stage::kCopyBatchToGpu)}, {use}, {make}}), Problems{});
  EXPECT_EQ(problems_of({{make}, {use}, {stage(Stage::kCopyBatchToGpu)}}), (Problems{{2, "schedule.batch_order"}}));
}

TEST(Validate, NamesOfResourcesMeanThese) {
  StageStep copy = stage(Stage::kCopyBatchToGpu);
  StageStep use = stage(Stage::kCompute);
  use.reads = {"batch", "tables"};  // tables live from the start: nobody need make them
  EXPECT_EQ(problems_of({{copy}, {use}}), Problems{});
  EXPECT_EQ(problems_of({{use}, {copy}}), (Problems{{1, "schedule.batch_order"}}));
  EXPECT_EQ(problems_of({{use}}), (Problems{{1, "schedule.missing_stage"}}));
  copy.stage = Stage::kCompute;
  copy.writes = {"batch"};
  EXPECT_EQ(problems_of({{copy}, {use}}), Problems{});
}

TEST(Validate, WhatIsFreedWasMade) {
  StageStep make = stage(Stage::kCompute);
  make.writes = {"x"};
  StageStep free = stage(Stage::kCompute);
  free.frees = {"x", "tables"};
  EXPECT_EQ(problems_of({{make}, {free}}), Problems{});
  EXPECT_EQ(problems_of({{free}}), (Problems{{1, "schedule.missing_stage"}}));
  EXPECT_EQ(problems_of({{free}, {make}}), (Problems{{1, "schedule.batch_order"}}));
  make.batch = 1;  // an iteration ago
  EXPECT_EQ(problems_of({{free}, {make}}), Problems{});
  free.writes = {"x"};
  make.batch = 0;
  EXPECT_EQ(problems_of({{free}, {make}}), Problems{}) << "it frees its own";
}

StageStep recording(std::int32_t batch) {
  StageStep step = stage(Stage::kCompute, batch);
  step.record = "e";
  return step;
}
Step wait_for(std::int32_t batch) { return {WaitStep{"e", kMain, batch}}; }

TEST(Validate, EventsAreRecordedBeforeTheyAreAwaited) {
  // Recorded in this iteration for batch i+2: for i+1 it was an iteration ago, for i+3 it will be in the next.
  EXPECT_EQ(problems_of({{recording(2)}, wait_for(2)}), Problems{});
  EXPECT_EQ(problems_of({{recording(2)}, wait_for(3)}), (Problems{{2, "schedule.event_too_early"}}));
  EXPECT_EQ(problems_of({wait_for(2), {recording(2)}}), (Problems{{1, "schedule.event_too_early"}}));
  EXPECT_EQ(problems_of({wait_for(1), {recording(2)}}), Problems{});
  EXPECT_EQ(problems_of({wait_for(-3), {recording(2)}}), Problems{});
  EXPECT_EQ(problems_of({wait_for(0)}), (Problems{{1, "schedule.event_never_recorded"}}));
  EXPECT_EQ(problems_of({{recording(0)}, {recording(1)}}), (Problems{{2, "schedule.duplicate_event"}}));
}

TEST(Validate, ARecordStepStandsForTheBatchOfTheIteration) {
  const Step record{RecordStep{"e", kMain}};
  EXPECT_EQ(problems_of({record, wait_for(0)}), Problems{});
  EXPECT_EQ(problems_of({wait_for(0), record}), (Problems{{1, "schedule.event_too_early"}}));
  EXPECT_EQ(problems_of({wait_for(-1), record}), Problems{});
}

TEST(Validate, SaysWhichEventCouldBeAwaited) {
  const auto problems = find_problems(schedule_of({wait_for(3), {recording(2)}}));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].text.find("the newest that can be waited for here is \"batch\": 1"), std::string::npos)
      << problems[0].text;
}

TEST(Validate, SaysWhatIsReadAndWhoMakesIt) {
  auto steps = chain();
  std::get<StageStep>(steps[5].action).batch = 1;
  const auto problems = find_problems(schedule_of(steps));
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].text,
            "stage \"embedding_lookup\": reads kjt(i+1), which stage \"input_dist_finish\" has made up to batch i only "
            "(line 5)");
}

TEST(Validate, ThrowsAllItFinds) {
  EXPECT_NO_THROW(validate(schedule_of(chain())));
  try {
    validate(schedule_of({wait_for(0), {stage(Stage::kOutputDistWait)}}));
    FAIL();
  } catch (const InvalidSchedule& error) {
    EXPECT_EQ(error.problems().size(), 2U);
    EXPECT_EQ(error.place(), "x.json:1");
  }
}

}  // namespace
}  // namespace interlace::schedule
