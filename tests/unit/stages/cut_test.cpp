#include "simulator/stages/cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "simulator/ingest/read.hpp"
#include "simulator/stages/unmatched_rules.hpp"

namespace interlace::stages {
namespace {

using schedule::Stage;

ingest::Recording sample(const std::string& schedule) {
  const std::filesystem::path folder = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces/torchrec_c6";
  const std::vector<std::filesystem::path> files{folder / (schedule + ".r0.json.gz"),
                                                 folder / (schedule + ".r1.json.gz")};
  return ingest::read(files);
}

std::map<SegmentKey, int> counted(const Iteration& iteration) {
  std::map<SegmentKey, int> counts;
  for (const Item& item : iteration.items) ++counts[item.segment];
  return counts;
}

class CutOfSample : public testing::TestWithParam<std::string> {};

TEST_P(CutOfSample, FindsEveryStageOfEveryModuleInEveryIteration) {
  const ingest::Recording recording = sample(GetParam());
  Diagnostics diagnostics;
  const Cut result = cut(recording.trace, torchrec_profile(), diagnostics);

  EXPECT_EQ(result.modules, (std::vector<std::string>{"sparse.ebc", "sparse.weighted_ebc"}));
  ASSERT_EQ(result.ranks.size(), 2U);
  EXPECT_EQ(result.iterations(), 2U);  // three steps were recorded; the first has no beginning
  EXPECT_EQ(diagnostics.count_of(kOutsideAnyStage.code), 0);
  for (const RankCut& rank : result.ranks) {
    for (const Iteration& iteration : rank.iterations) {
      const auto counts = counted(iteration);
      for (const ModuleId module : {ModuleId{0}, ModuleId{1}}) {
        for (const SegmentKey& key : std::vector<SegmentKey>{{Stage::kInputDistStart, Piece::kPermute, module},
                                                             {Stage::kInputDistWait, Piece::kTensors, module},
                                                             {Stage::kInputDistFinish, Piece::kWhole, module},
                                                             {Stage::kEmbeddingLookup, Piece::kWhole, module},
                                                             {Stage::kOutputDistStart, Piece::kWhole, module},
                                                             {Stage::kOutputDistWait, Piece::kWhole, module},
                                                             {Stage::kBackward, Piece::kGradDist, module},
                                                             {Stage::kBackward, Piece::kUpdate, module}}) {
          EXPECT_TRUE(counts.contains(key)) << schedule::to_string(key.stage) << " " << to_string(key.piece);
        }
      }
      EXPECT_EQ(counts.at({Stage::kCopyBatchToGpu, Piece::kWhole, {}}), 7);  // the tensors of a batch
      EXPECT_EQ(counts.at({Stage::kOptimizerStep, Piece::kWhole, {}}), 1);
    }
  }
}

TEST_P(CutOfSample, IterationsOfOneScheduleAreAlike) {
  const ingest::Recording recording = sample(GetParam());
  Diagnostics diagnostics;
  const Cut result = cut(recording.trace, torchrec_profile(), diagnostics);
  const auto first = counted(result.ranks[0].iterations[0]);
  for (const RankCut& rank : result.ranks) {
    for (const Iteration& iteration : rank.iterations) EXPECT_EQ(counted(iteration), first);
  }
}

TEST_P(CutOfSample, HostTimeIsAccountedFor) {
  const ingest::Recording recording = sample(GetParam());
  Diagnostics diagnostics;
  const Cut result = cut(recording.trace, torchrec_profile(), diagnostics);
  for (const RankCut& rank : result.ranks) {
    for (const Iteration& iteration : rank.iterations) {
      Nanoseconds sum = 0;
      for (const Item& item : iteration.items) {
        EXPECT_GE(item.gap, 0);
        sum += item.gap + recording.trace.duration(item.call);
      }
      EXPECT_LE(sum, iteration.host.length());
      EXPECT_GT(sum, iteration.host.length() * 95 / 100);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Torchrec, CutOfSample, testing::Values("sparse", "base", "fused_snew"));

TEST(Cut, BaseHasAnExchangeOfSplitsAModuleAndSparseDistOneForAll) {
  const auto exchanges = [](const std::string& schedule) {
    const ingest::Recording recording = sample(schedule);
    Diagnostics diagnostics;
    const Cut result = cut(recording.trace, torchrec_profile(), diagnostics);
    std::set<SegmentKey> keys;
    for (const Item& item : result.ranks[0].iterations[0].items) {
      if (item.segment.piece == Piece::kExchange) keys.insert(item.segment);
    }
    return keys.size();
  };
  EXPECT_EQ(exchanges("base"), 2U);
  EXPECT_EQ(exchanges("sparse"), 1U);
}

TEST(Cut, RulesOfTheUserThatMatchNothingAreTold) {
  const ingest::Recording recording = sample("sparse");
  Profile profile = torchrec_profile();
  Diagnostics diagnostics;
  static_cast<void>(cut(recording.trace, profile, diagnostics));
  EXPECT_EQ(diagnostics.count_of(kUnmatchedRule.code), 0) << "those of a built-in profile are usual";
  profile.rules.push_back({.stage = Stage::kDenseForward, .within = {"^## forward", "^fwd$"}});
  profile.rules.push_back({.stage = Stage::kDenseForward, .within = {"^## forward"}});
  static_cast<void>(cut(recording.trace, profile, diagnostics));
  ASSERT_EQ(diagnostics.count_of(kUnmatchedRule.code), 1);
  const auto found = std::ranges::find(diagnostics.entries(), kUnmatchedRule.code, &Diagnostic::code);
  EXPECT_EQ(found->first_place, "dense_forward: \"^fwd$\"");
}

// Threads of autograd are found by it where operations are not recorded.
TEST(Cut, ABackwardOfTheUserThatMatchesNothingIsTold) {
  const ingest::Recording recording = sample("sparse");
  const auto told_of = [&](const std::string& backward) {
    Profile profile = torchrec_profile();
    profile.backward = backward;
    Diagnostics diagnostics;
    static_cast<void>(cut(recording.trace, profile, diagnostics));
    const auto found = std::ranges::find(diagnostics.entries(), kUnmatchedRule.code, &Diagnostic::code);
    return found == diagnostics.entries().end() ? "" : found->first_place;
  };
  EXPECT_EQ(told_of("^bwd$"), "\"backward\" of the profile: \"^bwd$\"");
  EXPECT_EQ(told_of("^## back"), "");
  EXPECT_EQ(told_of(""), "") << "none is needed";
  EXPECT_EQ(told_of(interlace_profile().backward), "") << "that of a built-in profile is usual";
}

TEST(Cut, ATraceWithoutAnnotationsIsRefused) {
  const std::vector<std::filesystem::path> files{std::filesystem::path(INTERLACE_SOURCE_DIR) /
                                                 "samples/traces/hta/cuda_event_sync/event_sync_trace.json.gz"};
  const ingest::Recording recording = ingest::read(files);
  Diagnostics diagnostics;
  try {
    static_cast<void>(cut(recording.trace, torchrec_profile(), diagnostics));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNoIterations.name);
    EXPECT_EQ(error.problem().find("lost"), std::string::npos) << error.what();
  }
  // What was lost before may be what is missing.
  diagnostics.add({.code = "ilt.truncated", .severity = Severity::kDataLoss, .count = 1});
  try {
    static_cast<void>(cut(recording.trace, torchrec_profile(), diagnostics));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(error.problem().ends_with("; the recording lost data (ilt.truncated)")) << error.what();
  }
}

}  // namespace
}  // namespace interlace::stages
