// What training computes must not depend on the schedule, nor on the order in which a machine runs what the schedule
// leaves open; and it must be right.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "simulator/schedule/library.hpp"
#include "tests/unit/engine/reference_trainer.hpp"
#include "tests/unit/engine/training.hpp"

namespace interlace::engine {
namespace {

constexpr std::uint64_t kSeeds = 4;

// Those that read tables as the batch before has left them.
std::vector<schedule::Schedule> fresh_schedules() {
  std::vector<schedule::Schedule> fresh;
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    if (entry.name.starts_with("torchrec/") && entry.name != "torchrec/semi_sync") {
      fresh.push_back(schedule::find(entry.name));
    }
  }
  return fresh;
}

class EveryRankCount : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EveryRankCount, ::testing::Values(1, 2, 4));

TEST_P(EveryRankCount, FreshSchedulesGiveTheSameBits) {
  const Workload workload = workload_on("tiny", GetParam());
  const Ending expected = end_of(schedule::find("torchrec/base"), workload, std::nullopt);
  ASSERT_EQ(expected.error, "");
  ASSERT_EQ(expected.losses.size(), 6U);
  const std::vector<schedule::Schedule> schedules = fresh_schedules();
  ASSERT_EQ(schedules.size(), 11U);
  for (const schedule::Schedule& schedule : schedules) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Ending ending = end_of(schedule, workload, seed);
      EXPECT_TRUE(ending.same_as(expected)) << schedule.name << ", seed " << seed << ": " << ending.error;
    }
  }
}

TEST_P(EveryRankCount, DataParallelSchedulesGiveTheSameBits) {
  const Workload workload = workload_on("tiny-dp-mp", GetParam());
  const Ending expected = end_of(schedule::find("recsys/dp_mp_serial"), workload, std::nullopt);
  ASSERT_EQ(expected.error, "");
  for (const char* name : {"recsys/dp_mp_serial", "recsys/dp_mp_overlap"}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Ending ending = end_of(schedule::find(name), workload, seed);
      EXPECT_TRUE(ending.same_as(expected)) << name << ", seed " << seed << ": " << ending.error;
    }
  }
}

// Losses of about 0.7 with float errors of some 1e-7 in each of some hundred steps of arithmetic.
constexpr double kTolerance = 2e-6;

void expect_near(const std::vector<float>& losses, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(losses.size(), expected.size()) << what;
  for (std::size_t step = 0; step < losses.size(); ++step) {
    EXPECT_NEAR(losses[step], expected[step], kTolerance) << what << ", step " << step;
  }
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_P(EveryRankCount, BaseTrainsAsTheReferenceDoes) {
  for (const TableOptimizer optimizer : {TableOptimizer::kRowWiseAdagrad, TableOptimizer::kSgd}) {
    for (const Activation activation : {Activation::kSwishLayerNorm, Activation::kRelu}) {
      Workload workload = workload_on("tiny", GetParam());
      workload.table_optimizer.kind = optimizer;
      workload.dense->activation = activation;
      const Ending ending = end_of(schedule::find("torchrec/base"), workload, 1);
      ASSERT_EQ(ending.error, "");
      expect_near(ending.losses, reference_losses(workload, 0), "base");
    }
  }
}

TEST_P(EveryRankCount, SemiSyncReadsTablesThatAreOneStepOld) {
  const Workload workload = workload_on("tiny", GetParam());
  const std::vector<double> stale = reference_losses(workload, 1);
  const Ending first = end_of(schedule::find("torchrec/semi_sync"), workload, std::nullopt);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Ending ending = end_of(schedule::find("torchrec/semi_sync"), workload, seed);
    EXPECT_TRUE(ending.same_as(first)) << seed << ": " << ending.error;
  }
  expect_near(first.losses, stale, "semi_sync");
  // Not by luck: tables one step fresher, or one staler, would show.
  EXPECT_GT(largest_difference(stale, reference_losses(workload, 0)), 20 * kTolerance);
  EXPECT_GT(largest_difference(stale, reference_losses(workload, 2)), 20 * kTolerance);
  EXPECT_FALSE(first.same_as(end_of(schedule::find("torchrec/base"), workload, std::nullopt)));
}

TEST_P(EveryRankCount, DataParallelTablesTrainAsTheReferenceDoes) {
  const Workload mixed = workload_on("tiny-dp-mp", GetParam());
  expect_near(end_of(schedule::find("recsys/dp_mp_overlap"), mixed, 1).losses, reference_losses(mixed, 0), "mixed");
  const Workload alone = workload_on("tiny-dp", GetParam());
  expect_near(end_of(schedule::find("recsys/dp_only"), alone, 1).losses, reference_losses(alone, 0), "alone");
}

// The weights of feature processors are dense parameters: all but semi_sync, which looks up before the optimizer, read
// them as the batch before has left them. A lookup on a stream of its own is refused.
TEST_P(EveryRankCount, FeatureProcessorsTrainAsTheReferenceDoes) {
  Workload workload = workload_on("tiny-fp", GetParam());
  workload.dense_rate = 5.0F;  // so that what these weights learn in a few steps shows
  const Ending expected = end_of(schedule::find("torchrec/base"), workload, std::nullopt);
  const std::vector<double> losses = reference_losses(workload, 0);
  expect_near(expected.losses, losses, "base");
  Workload plain = workload;
  plain.feature_processors = false;
  EXPECT_GT(largest_difference(losses, reference_losses(plain, 0)), 5 * kTolerance);
  std::vector<std::string> refused;
  for (const schedule::Schedule& schedule : fresh_schedules()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Ending ending = end_of(schedule, workload, seed);
      if (ending.error.starts_with("error[engine.unordered_processor]")) {
        refused.push_back(schedule.name);
        break;
      }
      EXPECT_TRUE(ending.same_as(expected)) << schedule.name << ", seed " << seed << ": " << ending.error;
    }
  }
  EXPECT_EQ(refused, (std::vector<std::string>{"torchrec/fused_sparse_dist", "torchrec/fused_sparse_dist_new_stream",
                                               "torchrec/fused_sparse_dist_before_optimizer"}));
}

// One bucket a layer, or one for all: the segments of backward change nothing but the order of the all-reduces.
TEST(Numerics, BucketsDoNotChangeTheBits) {
  Workload workload = workload_on("tiny", 2);
  const Ending expected = end_of(schedule::find("torchrec/sparse_dist"), workload, 1);
  for (const std::int64_t bytes : {1, 1 << 20}) {
    workload.bucket_bytes = bytes;
    EXPECT_TRUE(end_of(schedule::find("torchrec/sparse_dist"), workload, 1).same_as(expected)) << bytes;
  }
}

TEST(Numerics, ShortRunsFillAndDrainInOne) {
  Workload workload = workload_on("tiny", 2);
  for (const std::int64_t steps : {1, 2, 3}) {
    workload.steps = steps;
    workload.distinct_batches = 6;
    const Ending expected = end_of(schedule::find("torchrec/base"), workload, std::nullopt);
    ASSERT_EQ(expected.losses.size(), static_cast<std::size_t>(steps)) << expected.error;
    for (const schedule::Schedule& schedule : fresh_schedules()) {
      EXPECT_TRUE(end_of(schedule, workload, 2).same_as(expected)) << schedule.name << " over " << steps;
    }
  }
}

}  // namespace
}  // namespace interlace::engine
