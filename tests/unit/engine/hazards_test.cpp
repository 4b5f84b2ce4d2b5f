// The engine and `interlace check` judge the same schedules by different means: one runs them under an adversary, the
// other proves. What check calls needed must show as wrong numbers under some seed, what it calls redundant under none.
//
// check holds that what hosts read inside stages orders nothing, since a host may know it already. So the hosts here
// foresee what they read.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "engine/pipeline/parameter_order.hpp"
#include "simulator/check/edits.hpp"
#include "simulator/check/schedule_check.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/unit/engine/training.hpp"

namespace interlace::engine {
namespace {

using check::WaitUse;
using schedule::Schedule;

constexpr std::uint64_t kMostSeeds = 100;  // the rarest of these faults shows about once in 20 orders
constexpr std::uint64_t kSoundSeeds = 8;

// (Of a schedule's name: with_processor() adds what it does to that.)
std::string workload_for(const std::string& schedule) {
  if (schedule.ends_with("with feature processors")) return "tiny-fp";
  if (schedule.starts_with("comms/")) return "tiny-a2a";
  if (schedule == "recsys/dp_only") return "tiny-dp";
  return schedule.starts_with("recsys/") ? "tiny-dp-mp" : "tiny";
}

// A sound schedule with what it computes.
class Sound {
 public:
  explicit Sound(const Schedule& schedule)
      : workload_(workload_on(workload_for(schedule.name), 2)),
        right_(end_of(schedule, workload_, std::nullopt)),
        reads_(host_reads_of(schedule, workload_)) {
    EXPECT_EQ(right_.error, "") << schedule.name;
    for (const Validation& validation : right_.validations) EXPECT_TRUE(validation.passed) << schedule.name;
  }

  /// The first seed under which a changed schedule goes wrong.
  [[nodiscard]] std::optional<std::uint64_t> goes_wrong(const Schedule& changed, std::uint64_t seeds) const {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      if (!end_of(changed, workload_, seed, &reads_).same_as(right_)) return seed;
    }
    return std::nullopt;
  }
  /// The same where hosts wait for what they read.
  [[nodiscard]] std::optional<std::uint64_t> goes_wrong_waiting(const Schedule& changed, std::uint64_t seeds) const {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      if (!end_of(changed, workload_, seed).same_as(right_)) return seed;
    }
    return std::nullopt;
  }

 private:
  Workload workload_;
  Ending right_;
  cpu::HostReads reads_;
};

TEST(Hazards, SoundSchedulesGiveTheSameBitsInEveryOrder) {
  for (const Schedule& schedule : schedule::all_sound()) {
    const Sound sound(schedule);
    EXPECT_EQ(sound.goes_wrong(schedule, kSoundSeeds), std::nullopt) << schedule.name;
    EXPECT_EQ(sound.goes_wrong_waiting(schedule, kSoundSeeds), std::nullopt) << schedule.name;
  }
}

TEST(Hazards, EveryWaitThatCheckCallsNeededIsMissedInSomeOrderAndNoOther) {
  int needed = 0;
  for (const Schedule& schedule : schedule::all_sound()) {
    const Sound sound(schedule);
    const std::vector<WaitUse> uses = check::check(schedule).waits;
    const std::vector<check::WrittenWait> waits = check::written_waits(schedule);
    ASSERT_EQ(uses.size(), waits.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const Schedule without = check::without(schedule, waits[i]);
      const std::string which = schedule.name + ":" + std::to_string(waits[i].line) + " " + waits[i].text;
      if (uses[i].use == WaitUse::Use::kNeeded) {
        ++needed;
        EXPECT_TRUE(sound.goes_wrong(without, kMostSeeds)) << which << " was not missed";
      } else if (uses[i].use == WaitUse::Use::kRedundant) {
        EXPECT_FALSE(sound.goes_wrong(without, kSoundSeeds)) << which << " is redundant and was missed";
      }
    }
  }
  EXPECT_GT(needed, 25);
}

// Each "record_stream" of a schedule left out in turn.
std::vector<Schedule> without_a_record(const Schedule& schedule) {
  std::vector<Schedule> all;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action);
    for (std::size_t i = 0; stage != nullptr && i < stage->record_stream.size(); ++i) {
      Schedule changed = schedule;
      auto& records = std::get<schedule::StageStep>(check::step_at(changed, placed.at).action).record_stream;
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(i));
      changed.name += " without " + schedule.stream(stage->record_stream[i]).name + " in record_stream of " +
                      std::string(to_string(stage->stage));
      all.push_back(std::move(changed));
    }
  }
  return all;
}

// (The engine may miss more of them than check: it gives memory back sooner.)
TEST(Hazards, EveryRecordStreamThatCheckCallsNeededIsMissedInSomeOrder) {
  int needed = 0;
  for (const Schedule& schedule : schedule::all_sound()) {
    const Sound sound(schedule);
    for (const Schedule& changed : without_a_record(schedule)) {
      if (check::check(changed, {.hazards_only = true}).hazards.empty()) continue;
      ++needed;
      EXPECT_TRUE(sound.goes_wrong(changed, kMostSeeds)) << changed.name;
    }
  }
  EXPECT_GT(needed, 12);
}

bool has_hazards(const Schedule& schedule) { return !check::check(schedule, {.hazards_only = true}).hazards.empty(); }

// A side stream reads the message of a batch while the host frees it, and main makes the next in the same memory.
TEST(Hazards, WhatAStepFreesIsKeptForTheStreamsThatItRecords) {
  const auto reading = [](const std::string& record) {
    return schedule::parse(R"({"interlace_schedule": 1, "name": "comms/freed", "streams": {"main": {}, "side": {}},
      "iteration": [{"stage": "compute", "batch": 0, "stream": "main", "module": "make", "writes": ["message"]},
                    {"stage": "compute", "batch": 0, "stream": "side", "after": ["main"], "module": "read",
                     "reads": ["message"]},
                    {"stage": "compute", "batch": 0, "stream": "main", "module": "free", )" +
                               record + R"("frees": ["message"]}]})",
                           "test");
  };
  const Schedule recorded = reading(R"("record_stream": ["side"], )");
  const Schedule forgotten = reading("");
  EXPECT_FALSE(has_hazards(recorded));
  EXPECT_TRUE(has_hazards(forgotten));
  const Sound sound(recorded);
  EXPECT_EQ(sound.goes_wrong(recorded, kMostSeeds), std::nullopt);
  EXPECT_TRUE(sound.goes_wrong(forgotten, kMostSeeds));
}

schedule::StageStep& stage_of(Schedule& schedule, schedule::Stage wanted) {
  for (schedule::Step& step : schedule.iteration) {
    auto* stage = std::get_if<schedule::StageStep>(&step.action);
    if (stage != nullptr && stage->stage == wanted) return *stage;
  }
  throw std::invalid_argument(schedule.name);
}

// The batch is not kept for its readers by the copy that makes it, but by the step that frees it, or by none.
TEST(Hazards, ABatchThatAStepFreesIsKeptForTheStreamsThatItRecords) {
  Schedule recorded = schedule::find("torchrec/sparse_dist");
  schedule::StageStep& copy = stage_of(recorded, schedule::Stage::kCopyBatchToGpu);
  schedule::StageStep& last = stage_of(recorded, schedule::Stage::kOptimizerStep);
  last.frees = {"batch"};
  last.record_stream = std::exchange(copy.record_stream, {});
  Schedule forgotten = recorded;
  stage_of(forgotten, schedule::Stage::kOptimizerStep).record_stream.clear();
  EXPECT_FALSE(has_hazards(recorded));
  EXPECT_TRUE(has_hazards(forgotten));
  const Sound sound(recorded);
  EXPECT_EQ(sound.goes_wrong(recorded, kSoundSeeds), std::nullopt);
  EXPECT_TRUE(sound.goes_wrong(forgotten, kMostSeeds));
}

// The schedule with a stage of its own for feature processors, above each lookup.
Schedule with_processor(Schedule schedule, const std::string& stream, std::vector<schedule::StreamIndex> after = {}) {
  schedule.name += " with feature processors";
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    const auto* stage = std::get_if<schedule::StageStep>(&placed.step->action);
    if (stage == nullptr || stage->stage != schedule::Stage::kEmbeddingLookup) continue;
    const schedule::StageStep processor{.stage = schedule::Stage::kFeatureProcessor,
                                        .batch = stage->batch,
                                        .stream = *schedule.stream_named(stream),
                                        .after = std::move(after),
                                        .module = {},
                                        .part = {},
                                        .alloc = {},
                                        .record_stream = {stage->stream},
                                        .kept_until = {},
                                        .mode = {},
                                        .record = {},
                                        .reads = {},
                                        .writes = {},
                                        .frees = {}};
    const schedule::Step wait{schedule::WaitStep{.source = processor.stream, .waiter = stage->stream}};
    check::insert_above(schedule, placed.at, {processor});
    schedule::Position at = placed.at;
    ++at.inner;
    check::insert_above(schedule, at, wait);
    return schedule;
  }
  return schedule;
}

Schedule named_as_before(Schedule schedule, const Schedule& before) {
  schedule.name = before.name;
  return schedule;
}

// Processors on the stream of the lookup, and on one of their own, which makes the dense gradients of another stream.
TEST(Hazards, FeatureProcessorsOnAnyStreamGiveTheSameBits) {
  const Schedule on_main = with_processor(schedule::find("torchrec/sparse_dist"), "main");
  const Sound sound(on_main);
  EXPECT_EQ(sound.goes_wrong(on_main, kSoundSeeds), std::nullopt);
  const Schedule plain = schedule::find("torchrec/sparse_dist");
  const Schedule beside = with_processor(plain, "data_dist", {*plain.stream_named("main")});
  EXPECT_TRUE(check::check(beside, {.hazards_only = true}).hazards.empty());
  EXPECT_EQ(sound.goes_wrong(beside, kSoundSeeds), std::nullopt);
}

// Without the wait for the optimizer: refused, and wrong where it runs all the same.
TEST(Hazards, FeatureProcessorsBesideTheOptimizerGoWrong) {
  const Schedule plain = schedule::find("torchrec/sparse_dist");
  const Sound sound(with_processor(plain, "data_dist", {*plain.stream_named("main")}));
  Schedule racy = with_processor(plain, "data_dist");
  EXPECT_FALSE(check::check(racy, {.hazards_only = true}).hazards.empty());
  EXPECT_TRUE(end_of(racy, workload_on("tiny-fp", 2), std::nullopt).error.starts_with("error[engine.unordered_proc"));
  EXPECT_NE(end_of(racy, workload_on("tiny", 2), std::nullopt).error.find("needs feature processors"),
            std::string::npos);
  racy.hazardous = true;
  EXPECT_TRUE(sound.goes_wrong(racy, kMostSeeds));
}

bool refuses_processors(const Schedule& schedule) {
  try {
    require_ordered_processors(schedule);
  } catch (const Error&) {
    return true;
  }
  return false;
}

// What the engine refuses for its feature processors is what check finds to clash over the dense parameters.
TEST(Hazards, TheEngineRefusesProcessorsWhereCheckFindsThemUnordered) {
  int refused = 0;
  int accepted = 0;
  for (const Schedule& schedule : schedule::all_sound()) {
    if (!schedule.name.starts_with("torchrec/")) continue;
    std::vector<Schedule> all = {schedule};
    for (const check::WrittenWait& wait : check::written_waits(schedule)) {
      all.push_back(named_as_before(check::without(schedule, wait), schedule));
    }
    for (const Schedule& each : all) {
      const auto hazards = check::check(each, {.feature_processors = true, .hazards_only = true}).hazards;
      const bool clashes = std::ranges::any_of(hazards, [](const check::Hazard& hazard) {
        return hazard.datum == "dense_parameters" || std::ranges::any_of(hazard.also, [](const std::string& also) {
                 return also.find("dense_parameters") != std::string::npos;
               });
      });
      EXPECT_EQ(refuses_processors(each), clashes) << each.name;
      ++(clashes ? refused : accepted);
    }
  }
  EXPECT_GE(refused, 3);
  EXPECT_GE(accepted, 20);
}

TEST(Hazards, TheRacyTwinOfDataParallelOverlapGoesWrong) {
  const Sound sound(schedule::find("recsys/dp_mp_overlap"));
  const Schedule racy = schedule::find("recsys/dp_mp_racy");
  EXPECT_TRUE(racy.hazardous);
  EXPECT_TRUE(sound.goes_wrong_waiting(racy, kMostSeeds));
}

// Bugs of real pipelines, and the same schedules repaired.
TEST(Hazards, BugsShowAndRepairedOnesDoNot) {
  const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/schedules";
  const auto load = [&](const std::string& name) { return schedule::parse_file((folder / (name + ".json")).string()); };
  for (const std::string bug :
       {"side_stream_without_wait", "lookup_without_data_dist_edge", "semi_sync_inplace_without_event"}) {
    Schedule repaired = load("repaired/" + bug);
    if (bug == "side_stream_without_wait") repaired.name = "recsys/" + bug;
    const Sound sound(repaired);
    EXPECT_EQ(sound.goes_wrong(repaired, kSoundSeeds), std::nullopt) << bug;
    EXPECT_TRUE(sound.goes_wrong(load("bugs/" + bug), kMostSeeds)) << bug;
  }
}

// However far the device is behind: whoever waits for an exchange has its memory back.
TEST(Hazards, ExchangesThatAreAwaitedByTheirEventHoldNoMoreMemory) {
  const auto reserved = [](const char* schedule, std::uint64_t seed) {
    return run_on_cpu(schedule::find(schedule), workload_on("tiny-a2a", 2), {.seed = seed}).front().peaks.reserved;
  };
  for (std::uint64_t seed = 0; seed < kSoundSeeds; ++seed) {
    EXPECT_EQ(reserved("comms/a2a_async", seed), reserved("comms/a2a_sync", seed)) << seed;
  }
}

TEST(Hazards, TheHostThatReadsACopyAtOnceReadsWrongDataInSomeOrder) {
  const Workload workload = workload_on("tiny-a2a", 2);
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kSoundSeeds; ++seed) {
    for (const char* mode : {"blocking", "event_at_once", "event_late", "unsafe"}) {
      const Ending ending = end_of(schedule::find(std::string("comms/validate_") + mode), workload, seed);
      EXPECT_EQ(ending.error, "");
      // A validation and a compute of each of 4 batches on both ranks.
      EXPECT_EQ(ending.validations.size(), 2U * 4U * 2U) << mode;
      for (const Validation& validation : ending.validations) {
        if (validation.mode == "unsafe") {
          wrong += validation.passed ? 0 : 1;
        } else {
          EXPECT_TRUE(validation.passed) << mode << " " << validation.mode << " " << validation.batch;
        }
      }
    }
  }
  EXPECT_GT(wrong, 0);
}

// As the benchmark of #3436 has it.
TEST(Hazards, TheEarlyCheckFailsInAsyncModeAndPassesInSyncMode) {
  const Workload workload = workload_on("tiny-a2a", 2);
  for (const char* mode : {"sync", "async"}) {
    int failed = 0;
    for (std::uint64_t seed = 0; seed < kSoundSeeds; ++seed) {
      const Ending ending = end_of(schedule::find(std::string("comms/early_check_") + mode), workload, seed);
      EXPECT_EQ(ending.error, "");
      for (const Validation& validation : ending.validations) {
        if (validation.passed) continue;
        EXPECT_EQ(validation.mode, "event");
        ++failed;
      }
    }
    EXPECT_EQ(failed > 0, std::string(mode) == "async");
  }
}

}  // namespace
}  // namespace interlace::engine
