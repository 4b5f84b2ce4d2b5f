#include "simulator/schedule/release_points.hpp"

#include <gtest/gtest.h>

#include <string>

#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::schedule {
namespace {

/// "stage batch", or "end" of the iteration; "" where nobody touches it.
std::string point(const Schedule& schedule, Resource resource) {
  const auto found = release_point(schedule, resource);
  if (!found) return "";
  if (found->behind == nullptr) return "end";
  return std::string(to_string(found->behind->stage)) + ' ' + std::to_string(found->behind->batch);
}

TEST(ReleasePoint, IsBehindTheLastStageThatTouches) {
  const Schedule base = find("torchrec/base");
  EXPECT_EQ(point(base, Resource::kSplits), "input_dist_wait 0");
  EXPECT_EQ(point(base, Resource::kLookedUp), "output_dist_start 0");
  EXPECT_EQ(point(base, Resource::kKjt), "backward 0");
  EXPECT_EQ(point(base, Resource::kPooledGradients), "");
}

TEST(ReleasePoint, IsLaterWhereTheScheduleKeepsIt) {
  const Schedule sparse = find("torchrec/sparse_dist");
  EXPECT_EQ(point(sparse, Resource::kBatch), "end");
  EXPECT_EQ(point(sparse, Resource::kSplits), "output_dist_start 0");
  EXPECT_EQ(point(sparse, Resource::kKjt), "backward 0") << "it is kept until a stage that comes sooner";
}

TEST(ReleasePoint, OfTwoPartsIsTheOneThatTouches) {
  const Schedule semi = find("torchrec/semi_sync");
  const auto activations = release_point(semi, Resource::kActivations);
  const auto gradients = release_point(semi, Resource::kPooledGradients);
  ASSERT_TRUE(activations && gradients);
  EXPECT_EQ(activations->behind->part, Part::kDense);
  EXPECT_EQ(gradients->behind->part, Part::kEmbedding);
  EXPECT_TRUE(is_later(semi, *gradients, *activations));
  EXPECT_TRUE(is_later(semi, ReleasePoint{}, *gradients));
  const auto looked_up = release_point(semi, Resource::kLookedUp);  // behind these, but of the batch after
  EXPECT_FALSE(is_later(semi, *looked_up, *activations));
}

TEST(ReleasePoint, IsBehindTheStageThatFrees) {
  const Schedule schedule = parse(R"({
    "interlace_schedule": 1, "name": "mine", "streams": {"main": {}},
    "iteration": [
      {"stage": "next_batch", "batch": 0, "stream": "main"},
      {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main", "kept_until": "iteration_end"},
      {"stage": "dense_forward", "batch": 0, "stream": "main", "frees": ["batch"]}
    ]})",
                                  "mine");
  EXPECT_EQ(point(schedule, Resource::kBatch), "dense_forward 0");
}

}  // namespace
}  // namespace interlace::schedule
