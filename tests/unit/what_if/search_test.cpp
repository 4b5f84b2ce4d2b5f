#include "simulator/what_if/search.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulator/check/schedule_check.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "simulator/schedule/print.hpp"

namespace interlace::what_if {
namespace {

/// The shipped recording of the engine's sparse_dist on two GPUs, of a job that shows what it exchanges.
class ScheduleSearch : public testing::Test {
 protected:
  static const replay::Predictor& predictor() {
    static const std::vector<std::filesystem::path> files{INTERLACE_SOURCE_DIR
                                                          "/samples/traces/engine_exposed/sparse_dist"};
    static ingest::Recording recording = ingest::read(files);
    static const stages::Cut cut = stages::cut(recording.trace, stages::interlace_profile(), recording.diagnostics);
    static const replay::Predictor predictor(recording.trace, cut, recording.diagnostics);
    return predictor;
  }

  static SearchResult find(const std::vector<std::string>& starts, SearchOptions options) {
    std::vector<schedule::Schedule> schedules;
    for (const std::string& start : starts) schedules.push_back(schedule::load(start));
    return search(schedules, predictor(), options, {});
  }

  static SearchOptions few(std::size_t tries) {
    SearchOptions options;
    options.most_tries = tries;
    return options;
  }
};

TEST_F(ScheduleSearch, FindsFasterOnesThatAreSoundAndTrainTheSame) {
  const SearchResult result = find({"base"}, few(150));
  ASSERT_TRUE(result.first);
  ASSERT_FALSE(result.found.empty());
  // base overlaps next to nothing.
  EXPECT_LT(static_cast<double>(result.found.front().step_time), 0.97 * static_cast<double>(result.first->step_time));
  std::size_t changes = result.found.front().changes.size() + 1;
  Nanoseconds faster = 0;
  for (const Found& found : result.found) {
    const check::ScheduleCheck verdict = check::check(found.schedule);
    EXPECT_TRUE(verdict.hazards.empty() && verdict.known_hazards.empty()) << schedule::print(found.schedule);
    EXPECT_EQ(verdict.numerics.as_base, std::optional(true)) << schedule::print(found.schedule);
    EXPECT_EQ(found.start, "torchrec/base");
    EXPECT_LT(found.changes.size(), changes);
    EXPECT_GT(found.step_time, faster);
    changes = found.changes.size();
    faster = found.step_time;
  }
}

TEST_F(ScheduleSearch, WhatItFindsIsPredictedTheSameFromItsFile) {
  const SearchOptions options = few(80);
  const SearchResult result = find({"base"}, options);
  ASSERT_FALSE(result.found.empty());
  const Found& best = result.found.front();
  const schedule::Schedule read = schedule::parse(schedule::print(best.schedule), best.schedule.source);
  replay::PredictOptions other_seed = options.predict;
  ++other_seed.simulation.seed;
  EXPECT_EQ(predictor().step_time(read, other_seed), best.step_time);
  EXPECT_EQ(predictor().predict(read, other_seed).step_time, best.step_time);
}

TEST_F(ScheduleSearch, ReadsTablesLateOnlyWhereThatIsAllowed) {
  const SearchResult fresh = find({"sparse_dist", "semi_sync"}, few(1));
  EXPECT_EQ(fresh.counts.other_numbers, 1U) << "semi_sync reads one update late";
  SearchOptions late = few(2);
  late.most_stale = 1;
  EXPECT_EQ(find({"sparse_dist", "semi_sync"}, late).counts.other_numbers, 0U);
}

TEST_F(ScheduleSearch, CallsAnotherStartAChange) {
  SearchOptions late = few(2);
  late.most_stale = 1;
  const SearchResult result = find({"base", "semi_sync"}, late);
  ASSERT_EQ(result.found.size(), 1U);
  EXPECT_EQ(result.found.front().changes, std::vector<std::string>{"torchrec/semi_sync instead"});
}

// What is recorded is told as it is: gains are against that, and what it takes to be free of races is the first change.
TEST_F(ScheduleSearch, MendsTheKnownHazardsOfAStart) {
  const SearchOptions options = few(60);
  const SearchResult result = find({"fused_sparse_dist"}, options);
  ASSERT_TRUE(result.first);
  EXPECT_TRUE(result.first->mends.empty());
  EXPECT_FALSE(check::check(result.first->schedule).known_hazards.empty());
  replay::PredictOptions other_seed = options.predict;
  ++other_seed.simulation.seed;
  EXPECT_EQ(result.first->step_time, predictor().step_time(schedule::find("torchrec/fused_sparse_dist"), other_seed));
  ASSERT_FALSE(result.found.empty());
  for (const Found& found : result.found) {
    EXPECT_EQ(found.mends.size(), 1U);
    EXPECT_TRUE(check::check(found.schedule).hazards.empty());
  }
}

TEST_F(ScheduleSearch, KnowsOfFeatureProcessors) {
  const auto first_of = [](bool feature_processors) {
    SearchOptions options = few(1);
    options.feature_processors = feature_processors;
    const std::vector<schedule::Schedule> starts{schedule::load("fused_sparse_dist_before_optimizer")};
    return search(starts, predictor(), options, {});
  };
  // The lookup races with optimizer_step, and where a wait orders them it is an update late.
  EXPECT_EQ(first_of(false).counts.simulated, 1U);
  EXPECT_EQ(first_of(true).counts.simulated, 0U);
}

TEST_F(ScheduleSearch, DoesNotCallWhatItMendedHazardous) {
  std::vector<schedule::Schedule> starts{schedule::find("torchrec/base")};
  starts.front().hazardous = true;
  const SearchResult result = search(starts, predictor(), few(60), {});
  ASSERT_FALSE(result.found.empty());
  for (const Found& found : result.found) EXPECT_FALSE(found.schedule.hazardous);
}

TEST_F(ScheduleSearch, CountsEveryScheduleOnce) {
  const SearchResult result = find({"base", "sparse_dist", "prefetch_sparse_dist"}, few(60));
  const SearchCounts& counts = result.counts;
  EXPECT_EQ(counts.simulated, 60U);
  EXPECT_EQ(counts.not_recorded, 1U) << "prefetch_sparse_dist";
  EXPECT_EQ(counts.seen, counts.racy + counts.other_numbers + counts.not_recorded + counts.repeated + counts.simulated +
                             counts.not_tried);
}

TEST_F(ScheduleSearch, GivesTheSameTwice) {
  const SearchResult once = find({"sparse_dist"}, few(40));
  const SearchResult again = find({"sparse_dist"}, few(40));
  ASSERT_EQ(once.found.size(), again.found.size());
  for (std::size_t i = 0; i < once.found.size(); ++i) {
    EXPECT_EQ(once.found[i].changes, again.found[i].changes);
    EXPECT_EQ(once.found[i].step_time, again.found[i].step_time);
  }
}

}  // namespace
}  // namespace interlace::what_if
