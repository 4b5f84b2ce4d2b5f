#include "simulator/check/schedule_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/check/edits.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/step_checks.hpp"
#include "tests/unit/check/schedules.hpp"

namespace interlace::check {
namespace {

std::set<std::string> kinds(const ScheduleCheck& result) {
  std::set<std::string> kinds;
  for (const Hazard& hazard : result.hazards) kinds.insert(std::string(to_string(hazard.kind)));
  return kinds;
}

std::int64_t late(const ScheduleCheck& result, const std::string& stage, const std::string& resource) {
  for (const Staleness& read : result.staleness) {
    if (read.stage == stage && read.resource == resource) return read.updates;
  }
  ADD_FAILURE() << stage << " does not read " << resource;
  return -1;
}

TEST(Check, AcquitsEveryShippedScheduleButTheSpecimens) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const schedule::Schedule schedule = schedule::find(entry.name);
    const ScheduleCheck result = check(schedule);
    EXPECT_EQ(!result.hazards.empty(), schedule.hazardous) << entry.name;
    EXPECT_TRUE(result.lost_overlaps.empty()) << entry.name;
    EXPECT_TRUE(result.pointless_streams.empty()) << entry.name;
    for (const Hazard& hazard : result.hazards) EXPECT_TRUE(hazard.fix) << entry.name;
  }
}

// What was looked up is copied for the exchange on the stage's own stream: the exchange holds the copy, not what it is
// of.
TEST(Check, WhatWasLookedUpIsUsedByTheStreamThatPacksIt) {
  const auto packed_on_main = [](const std::string& more) {
    return kinds(check(schedule::parse(R"({"interlace_schedule": 1, "name": "test/packed_on_main",
      "streams": {"main": {}, "memcpy": {}, "data_dist": {}, "lookup": {}},
      "iteration": [
        {"stage": "next_batch", "batch": 0, "stream": "memcpy"},
        {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "memcpy", "record_stream": ["data_dist", "main"]},
        {"stage": "input_dist_start", "batch": 0, "stream": "data_dist", "after": ["memcpy"]},
        {"stage": "input_dist_wait", "batch": 0, "stream": "data_dist"},
        {"for_each": "module", "do": [
          {"stage": "input_dist_finish", "batch": 0, "stream": "data_dist", "record_stream": ["lookup", "main"]},
          {"wait": "data_dist", "stream": "lookup"},
          {"stage": "embedding_lookup", "batch": 0, "stream": "lookup")" +
                                           more +
                                           R"(},
          {"wait": "lookup", "stream": "main"},
          {"stage": "output_dist_start", "batch": 0, "stream": "main"}
        ]},
        {"wait": "memcpy", "stream": "main"},
        {"stage": "output_dist_wait", "batch": 0, "stream": "main"},
        {"stage": "dense_forward", "batch": 0, "stream": "main"},
        {"stage": "backward", "batch": 0, "stream": "main"},
        {"stage": "optimizer_step", "batch": 0, "stream": "main"}
      ]})",
                                       "test")));
  };
  EXPECT_EQ(packed_on_main(""), std::set<std::string>{"free_before_last_use"});
  EXPECT_EQ(packed_on_main(R"(, "record_stream": ["main"])"), std::set<std::string>{});
}

// main reads the output exchange's buffer out of data_dist's pool, unrecorded.
TEST(Check, KnowsTheHazardThatTheFusedPipelineCopies) {
  for (const char* name : {"torchrec/fused_sparse_dist", "torchrec/fused_sparse_dist_before_optimizer"}) {
    schedule::Schedule fused = schedule::find(name);
    const ScheduleCheck result = check(fused);
    ASSERT_EQ(result.known_hazards.size(), 1U) << name;
    EXPECT_EQ(result.known_hazards.front().kind, HazardKind::kFreeBeforeLastUse);
    EXPECT_EQ(result.known_hazards.front().stays, fused.known_hazards.front().why);
    EXPECT_EQ(result.numerics.as_base, std::optional(true));
    // Unless it says so itself, it is held against it, and can be mended.
    const auto known = std::exchange(fused.known_hazards, {});
    const ScheduleCheck unsaid = check(fused);
    EXPECT_EQ(kinds(unsaid), std::set<std::string>{"free_before_last_use"}) << name;
    EXPECT_EQ(unsaid.numerics.as_base, std::nullopt);
    ASSERT_TRUE(unsaid.repaired) << name;
    // What it says in vain is noted.
    schedule::Schedule repaired = *unsaid.repaired;
    repaired.known_hazards = known;
    const ScheduleCheck vain = check(repaired);
    EXPECT_TRUE(vain.known_hazards.empty());
    EXPECT_TRUE(std::ranges::any_of(vain.notes, [](const std::string& note) {
      return note.find("output_exchange, which is not there") != std::string::npos;
    })) << name;
  }
}

// The gradient of the side lookup ends before the rest of backward does, which still reads the batch on main.
TEST(Check, ASideGradientDoesNotKeepTheBatchForMain) {
  schedule::Schedule schedule = schedule::find("recsys/dp_mp_overlap");
  for (schedule::Step& step : schedule.iteration) {
    auto* stage = std::get_if<schedule::StageStep>(&step.action);
    if (stage == nullptr || stage->stage != schedule::Stage::kCopyBatchToGpu) continue;
    std::erase(stage->record_stream, *schedule.stream_named("main"));
  }
  const ScheduleCheck result = check(schedule);
  ASSERT_EQ(result.hazards.size(), 1U);
  EXPECT_EQ(result.hazards.front().kind, HazardKind::kFreeBeforeLastUse);
  EXPECT_EQ(result.hazards.front().earlier.operation, "backward(i-1)");
  EXPECT_TRUE(result.repaired);
}

TEST(Check, ConvictsTheSpecimensOfWhatTheyAreSpecimensOf) {
  EXPECT_EQ(kinds(check(schedule::find("recsys/dp_mp_racy"))), std::set<std::string>{"read_before_write"});
  EXPECT_EQ(kinds(check(schedule::find("comms/validate_unsafe"))),
            std::set<std::string>{"host_read_of_unfinished_copy"});
  EXPECT_EQ(kinds(check(schedule::find("comms/early_check_async"))), std::set<std::string>{"read_before_write"});
}

TEST(Check, SaysHowLateTablesAndParametersAreRead) {
  const std::map<std::string, std::int64_t> tables{{"torchrec/base", 0},
                                                   {"torchrec/sparse_dist", 0},
                                                   {"torchrec/fused_sparse_dist", 0},
                                                   {"torchrec/semi_sync", 1},
                                                   {"torchrec/prefetch_sparse_dist", 0},
                                                   {"torchrec/staged", 0},
                                                   {"recsys/dp_mp_overlap", 0},
                                                   {"torchrec/sparse_dist_lite", 0},
                                                   {"torchrec/fused_sparse_dist_before_optimizer", 0}};
  for (const auto& [name, updates] : tables) {
    const ScheduleCheck result = check(schedule::find(name));
    EXPECT_EQ(late(result, "embedding_lookup", "tables"), updates) << name;
    EXPECT_EQ(late(result, "dense_forward", "dense_parameters"), 0) << name;
    EXPECT_EQ(result.numerics.as_base, std::optional(updates == 0)) << name;
  }
}

TEST(Check, FeatureProcessorsNeedALookupBehindTheOptimizer) {
  const CheckOptions options{.feature_processors = true};
  for (const char* name : {"torchrec/base", "torchrec/sparse_dist", "torchrec/sparse_dist_inplace", "torchrec/staged",
                           "torchrec/prefetch_sparse_dist", "torchrec/fused_sparse_dist_current_stream"}) {
    EXPECT_TRUE(check(schedule::find(name), options).hazards.empty()) << name;
  }
  for (const char* name : {"torchrec/fused_sparse_dist", "torchrec/fused_sparse_dist_new_stream",
                           "torchrec/fused_sparse_dist_before_optimizer"}) {
    const ScheduleCheck result = check(schedule::find(name), options);
    ASSERT_EQ(result.hazards.size(), 1U) << name;
    EXPECT_EQ(result.hazards.front().datum, "dense_parameters");
    EXPECT_EQ(result.numerics.as_base, std::nullopt);
    EXPECT_TRUE(check(schedule::find(name)).hazards.empty()) << name;
  }
  // Ordered, but before the update.
  const ScheduleCheck semi = check(schedule::find("torchrec/semi_sync"), options);
  EXPECT_TRUE(semi.hazards.empty());
  EXPECT_EQ(late(semi, "embedding_lookup", "dense_parameters"), 1);
}

// A lookup on its own stream reaches main through the exchange of its result, which one rank does not have.
TEST(Check, OneRankHasNoCollectivesToRelyOn) {
  const CheckOptions alone{.one_rank = true};
  EXPECT_TRUE(check(schedule::find("torchrec/fused_sparse_dist"), alone).hazards.empty());
  const ScheduleCheck fresh = check(schedule::find("torchrec/fused_sparse_dist_new_stream"), alone);
  ASSERT_FALSE(fresh.hazards.empty());
  EXPECT_EQ(fresh.hazards.front().datum, "output_exchange(i)");
  EXPECT_EQ(fresh.hazards.front().later.operation, "output_dist_wait(i)");
}

TEST(Check, GradientsMustBeThoseOfTheBatch) {
  const std::string forward = R"({"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"},
    {"stage": "dense_forward", "batch": 0, "stream": "main"})";
  const std::string zero = R"({"stage": "zero_grad", "batch": 0, "stream": "main"})";
  const std::string backward = R"({"stage": "backward", "batch": 0, "stream": "main"})";
  const std::string optimizer = R"({"stage": "optimizer_step", "batch": 0, "stream": "main"})";
  const auto reasons = [](const std::string& lines) { return check(steps(lines)).numerics; };
  EXPECT_EQ(reasons(zero + "," + forward + "," + backward + "," + optimizer).as_base, true);
  EXPECT_EQ(reasons(forward + "," + backward + "," + optimizer + "," + zero).as_base, true);
  const Numerics summed = reasons(forward + "," + backward + "," + optimizer);
  EXPECT_EQ(summed.as_base, false);
  EXPECT_NE(summed.reasons.at(0).find("gradients of batches"), std::string::npos);
  const Numerics none = reasons(forward + "," + backward + "," + zero + "," + optimizer);
  EXPECT_NE(none.reasons.at(0).find("finds no gradients"), std::string::npos);
}

/// One batch trained on one stream, with feature processors, and backward in parts.
std::string processed(const std::string& behind_dense, const std::string& behind_embedding) {
  const auto step = [](const std::string& stage, const std::string& more = "") {
    return fmt::format(R"({{"stage": "{}", "batch": 0, "stream": "main"{}}})", stage, more);
  };
  std::vector<std::string> lines;
  for (const char* stage :
       {"zero_grad", "copy_batch_to_gpu", "input_dist_start", "input_dist_wait", "input_dist_finish",
        "feature_processor", "embedding_lookup", "output_dist_start", "output_dist_wait", "dense_forward"}) {
    lines.push_back(step(stage));
  }
  lines.push_back(step("backward", R"(, "part": "dense")"));
  if (!behind_dense.empty()) lines.push_back(step(behind_dense));
  lines.push_back(step("backward", R"(, "part": "embedding")"));
  if (!behind_embedding.empty()) lines.push_back(step(behind_embedding));
  return fmt::format("{}", fmt::join(lines, ","));
}

// The weights of feature processors have their gradients from the embedding part.
TEST(Check, GradientsOfFeatureProcessorsMustReachTheOptimizer) {
  EXPECT_EQ(check(steps(processed("", "optimizer_step"))).numerics.as_base, true);
  const Numerics lost = check(steps(processed("optimizer_step", ""))).numerics;
  EXPECT_EQ(lost.as_base, false);
  ASSERT_EQ(lost.reasons.size(), 1U);
  EXPECT_NE(lost.reasons[0].find("does not find the gradients of backward (embedding)"), std::string::npos)
      << lost.reasons[0];
  // The same where the lookup weighs.
  std::string inside = processed("optimizer_step", "");
  const std::string processor = R"({"stage": "feature_processor", "batch": 0, "stream": "main"},)";
  inside.erase(inside.find(processor), processor.size());
  EXPECT_EQ(check(steps(inside)).numerics.as_base, true) << "no weights";
  EXPECT_EQ(check(steps(inside), {.feature_processors = true}).numerics.as_base, false);
}

// Whose all-reduce takes no memory of the stream of backward, but of their own.
TEST(Check, FeatureProcessorsMayHaveAStreamOfTheirOwn) {
  schedule::Schedule beside = schedule::find("torchrec/sparse_dist");
  for (const schedule::PlacedStep& placed : schedule::placed_steps(beside)) {
    const auto* lookup = std::get_if<schedule::StageStep>(&placed.step->action);
    if (lookup == nullptr || lookup->stage != schedule::Stage::kEmbeddingLookup) continue;
    schedule::StageStep processor = *lookup;
    processor.stage = schedule::Stage::kFeatureProcessor;
    processor.stream = *beside.stream_named("data_dist");
    processor.after = {lookup->stream};
    processor.record_stream = {lookup->stream};
    const schedule::WaitStep wait{.source = processor.stream, .waiter = lookup->stream};
    schedule::Position at = placed.at;
    insert_above(beside, at, {processor});
    ++at.inner;
    insert_above(beside, at, {wait});
    break;
  }
  const ScheduleCheck verdict = check(beside);
  EXPECT_TRUE(verdict.hazards.empty()) << verdict.hazards.front().why;
}

TEST(Check, HalfATrainingLoopIsNotThatOfASynchronousOne) {
  const auto reason = [](const std::string& last) {
    const Numerics numerics = check(steps(processed("", last))).numerics;
    return numerics.reasons.empty() ? std::string("none") : numerics.reasons.front();
  };
  EXPECT_EQ(reason("optimizer_step"), "none");
  EXPECT_NE(reason("").find("no optimizer_step"), std::string::npos);
  const std::string forward = R"({"stage": "dense_forward", "batch": 0, "stream": "main"})";
  const std::string optimizer = R"({"stage": "optimizer_step", "batch": 0, "stream": "main"})";
  EXPECT_EQ(check(steps(forward)).numerics.as_base, true) << "evaluation";
  const Numerics no_backward = check(steps(forward + kThen + optimizer)).numerics;
  EXPECT_EQ(no_backward.as_base, false);
  EXPECT_NE(no_backward.reasons.at(0).find("no backward"), std::string::npos);
}

// All on one stream. b is looked up before its part of backward, a behind it.
TEST(Check, AnEmbeddingPartUpdatesTheTablesOfItsModuleOnly) {
  const auto step = [](const std::string& stage, int batch, const std::string& more = "") {
    return fmt::format(R"({{"stage": "{}", "batch": {}, "stream": "main"{}}})", stage, batch, more);
  };
  const auto of = [](const std::string& module, const std::string& more = "") {
    return fmt::format(R"({}, "module": "{}")", more, module);
  };
  const std::string embedding = R"(, "part": "embedding")";
  const std::vector<std::string> lines{step("copy_batch_to_gpu", 1),
                                       step("input_dist_start", 1),
                                       step("input_dist_wait", 1),
                                       step("input_dist_finish", 1),
                                       step("output_dist_start", 0),
                                       step("output_dist_wait", 0),
                                       step("dense_forward", 0),
                                       step("zero_grad", 0),
                                       step("backward", 0, R"(, "part": "dense")"),
                                       step("backward", 0, of("a", embedding)),
                                       step("embedding_lookup", 1, of("a")),
                                       step("embedding_lookup", 1, of("b")),
                                       step("backward", 0, of("b", embedding)),
                                       step("optimizer_step", 0)};
  const ScheduleCheck result = check(steps(fmt::format("{}", fmt::join(lines, ","))));
  EXPECT_TRUE(result.hazards.empty());
  EXPECT_EQ(late(result, "embedding_lookup [a]", "tables"), 0);
  EXPECT_EQ(late(result, "embedding_lookup [b]", "tables"), 1);
  EXPECT_EQ(result.numerics.as_base, std::optional(false));
}

TEST(Check, LooksIntoARepetitionWithoutShardedStages) {
  const std::string make = work("side", "", "x", R"(, "record_stream": ["main"])");
  const std::string body = make + "," + work("main", "x", "");
  // The next module's x is written into that of the one before.
  EXPECT_EQ(kinds(check(steps(R"({"for_each": "module", "do": [)" + body + "]}"))),
            (std::set<std::string>{"read_before_write", "write_while_read"}));
}

// main waits for the exchange and lookup does not, in whose pool its input lies.
TEST(Check, MendsMemoryThatACollectiveLetsGoEarly) {
  const std::string make = work("side", "", "x");
  const std::string exchange =
      R"(, {"stage": "all_to_all", "batch": 0, "stream": "side", "async": true, "reads": ["x"], "record": "sent"})";
  const ScheduleCheck result = check(steps(make + exchange + R"(, {"wait": "sent", "on": "main"})"));
  ASSERT_EQ(result.hazards.size(), 1U);
  EXPECT_EQ(
      result.hazards.front().why.find("The host gives the memory back to side's pool once a stream has waited for"), 0U)
      << result.hazards.front().why;
  ASSERT_TRUE(result.hazards.front().fix);
  EXPECT_EQ(result.hazards.front().fix->text, "\"main\" in \"record_stream\" of line 3 (compute)");
}

// x is made on side an iteration ahead. Each batch makes main wait for side in front of the reader of the batch before
// and of that of the batch behind it: a batch that has neither is alone.
TEST(Check, LooksAtRunsThatNeverFillThePipeline) {
  const std::string lines = R"({"stage": "compute", "batch": 1, "stream": "main", "after": ["side"]},
    {"stage": "compute", "batch": 0, "stream": "main", "reads": ["x"]},
    {"stage": "compute", "batch": 1, "stream": "side", "writes": ["x"], "record_stream": ["main"]},
    {"stage": "compute", "batch": 0, "stream": "main", "after": ["side"]})";
  const ScheduleCheck result = check(steps(lines));
  ASSERT_EQ(kinds(result), std::set<std::string>{"read_before_write"});
  const std::string& why = result.hazards.front().why;
  EXPECT_NE(why.find("That is so in a run of 1 batch; long runs have it in order."), std::string::npos) << why;
  ASSERT_TRUE(result.repaired);
  EXPECT_TRUE(check(*result.repaired).hazards.empty());
}

TEST(Check, TellsTheHazardInShort) {
  const ScheduleCheck result = check(schedule::find("recsys/dp_mp_racy"));
  ASSERT_EQ(result.hazards.size(), 1U);
  const Hazard& hazard = result.hazards.front();
  EXPECT_EQ(hazard.datum, "dense_parameters");
  EXPECT_EQ(hazard.phase, Phase::kSteady);
  EXPECT_EQ(hazard.earlier.operation, "optimizer_step(i-1)");
  EXPECT_EQ(hazard.earlier.does, "writes");
  EXPECT_EQ(hazard.earlier.lane, "main");
  EXPECT_EQ(hazard.earlier.iterations_before, 1);
  EXPECT_EQ(hazard.later.operation, "data_parallel_lookup(i)");
  EXPECT_EQ(hazard.later.does, "reads");
  EXPECT_EQ(hazard.later.lane, "side");
  EXPECT_EQ(hazard.why, "By then side has waited for main only as far as backward(i-1).");
  ASSERT_TRUE(hazard.fix);
  EXPECT_EQ(hazard.fix->text.find(R"({"wait": "main", "stream": "side"} above line )"), 0U) << hazard.fix->text;
  EXPECT_EQ(hazard.also.size(), 1U);
}

TEST(Check, PrefersTheFixThatOrdersLeast) {
  // side needs the first work of main only: the event is narrower than a wait for all of main.
  const std::string many = work("main", "", "x", R"(, "record_stream": ["side"])") + "," + work("main", "", "y") + "," +
                           work("main", "", "z") + "," + work("side", "x", "");
  const ScheduleCheck result = check(steps(many));
  ASSERT_EQ(result.hazards.size(), 1U);
  ASSERT_TRUE(result.hazards.front().fix);
  EXPECT_NE(result.hazards.front().fix->text.find("\"record\": \"compute_done\""), std::string::npos);
  EXPECT_TRUE(result.hazards.front().fix->also_orders.empty());
}

std::multiset<std::string> redundant(const ScheduleCheck& result) {
  std::multiset<std::string> texts;
  for (const WaitUse& wait : result.waits) {
    if (wait.use == WaitUse::Use::kRedundant) texts.insert(wait.text);
  }
  return texts;
}

TEST(Waits, ThatOrderNothingThatClashesAreRedundant) {
  const std::string wait = R"(, {"wait": "main", "stream": "side"}, )";
  const std::string make = work("main", "", "x", R"(, "record_stream": ["side"])");
  const ScheduleCheck once = check(steps(make + wait + work("side", "x", "")));
  EXPECT_EQ(redundant(once).size(), 0U);
  const ScheduleCheck twice =
      check(steps(make + wait + R"({"wait": "main", "stream": "side"}, )" + work("side", "x", "")));
  EXPECT_EQ(redundant(twice).size(), 2U);
  EXPECT_FALSE(twice.redundant_together);
  const ScheduleCheck nothing =
      check(steps(make + R"(, {"wait": "main", "stream": "other"}, )" + work("other", "", "y")));
  EXPECT_EQ(redundant(nothing).size(), 1U);
}

/// side makes x, which is exchanged; other waits for that and does something, and then side takes memory again.
std::string exchanged(const std::string& wait, const std::string& other) {
  return work("side", "", "x") + kThen +
         R"({"stage": "all_to_all", "batch": 0, "stream": "side", "async": true, "reads": ["x"], "writes": ["y"],
             "record": "arrived"})" +
         wait + other + kThen + work("side", "", "z");
}
const std::string kWaitForArrival = R"(, {"wait": "arrived", "on": "other"})";

// With the wait the exchange lets go of x, which nothing holds then; without it y is read too early. Both ways there is
// as much that clashes.
TEST(Waits, AreNeededForOtherThingsThanTheyBreak) {
  const std::string use = kThen + work("other", "y", "");
  const ScheduleCheck with = check(steps(exchanged(kWaitForArrival, use + use)));
  EXPECT_EQ(kinds(with), std::set<std::string>{"free_before_last_use"});
  EXPECT_TRUE(kinds(check(steps(exchanged("", use + use)))).contains("read_before_write"));
  ASSERT_EQ(with.waits.size(), 1U);
  EXPECT_EQ(with.waits.front().use, WaitUse::Use::kNeeded);
}

// Nothing reads what arrives: the wait only makes the exchange let go of x, while it may still read it.
TEST(Waits, ThatOnlyDoHarmAreNotNeeded) {
  const ScheduleCheck with = check(steps(exchanged(kWaitForArrival, "")));
  EXPECT_EQ(kinds(with), std::set<std::string>{"free_before_last_use"});
  EXPECT_TRUE(check(steps(exchanged("", ""))).hazards.empty());
  ASSERT_EQ(with.waits.size(), 1U);
  EXPECT_EQ(with.waits.front().use, WaitUse::Use::kRedundant);
}

TEST(Waits, NeededUnderStricterRulesOnlyAreAPrecaution) {
  const ScheduleCheck result = check(schedule::find("torchrec/semi_sync"));
  for (const WaitUse& wait : result.waits) {
    EXPECT_EQ(wait.use == WaitUse::Use::kPrecaution, !wait.reason.empty()) << wait.text;
  }
}

TEST(PointlessStreams, AreThoseThatCouldBeAnother) {
  const std::string fork = R"(, {"wait": "main", "stream": "side"}, )";
  const std::string join = R"(, {"wait": "side", "stream": "main"}, )";
  const std::string make = work("main", "", "x", R"(, "record_stream": ["side"])");
  const std::string use = work("side", "x", "y", R"(, "record_stream": ["main"])");
  const ScheduleCheck serial = check(steps(make + fork + use + join + work("main", "y", "")));
  ASSERT_EQ(serial.pointless_streams.size(), 1U);
  EXPECT_EQ(serial.pointless_streams.front().stream, "side");
  EXPECT_EQ(serial.pointless_streams.front().same_as, "main");
  // With work on main between fork and join the two can overlap.
  EXPECT_TRUE(check(steps(make + fork + use + "," + work("main", "", "z") + join + work("main", "y", "")))
                  .pointless_streams.empty());
}

TEST(HazardsOnly, FindsTheSameHazards) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const schedule::Schedule schedule = schedule::find(entry.name);
    EXPECT_EQ(kinds(check(schedule, {.hazards_only = true})), kinds(check(schedule))) << entry.name;
  }
}

}  // namespace
}  // namespace interlace::check
