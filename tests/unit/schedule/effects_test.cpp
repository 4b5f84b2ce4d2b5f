#include "simulator/schedule/effects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "simulator/schedule/library.hpp"

namespace interlace::schedule {
namespace {

struct Placed {
  Stage stage;
  std::optional<Part> part;
};

std::vector<Placed> all_stages() {
  std::vector<Placed> all;
  for (std::size_t i = 0; i < kStages; ++i) all.push_back({static_cast<Stage>(i), std::nullopt});
  all.push_back({Stage::kBackward, Part::kDense});
  all.push_back({Stage::kBackward, Part::kEmbedding});
  return all;
}

std::set<Resource> written(const Placed& placed) {
  const auto writes = effects_of(placed.stage, placed.part).writes;
  return {writes.begin(), writes.end()};
}

std::set<Resource> read(const Placed& placed) {
  std::set<Resource> resources;
  for (const Read& r : effects_of(placed.stage, placed.part).reads) resources.insert(r.resource);
  return resources;
}

TEST(Words, GoBothWays) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    EXPECT_EQ(stage_named(to_string(stage)), stage);
    words.insert(to_string(stage));
  }
  EXPECT_EQ(words.size(), kStages);
  EXPECT_EQ(to_string(Stage::kAllToAll), "all_to_all");  // the last of the list: none was left out
  EXPECT_EQ(to_string(Stage::kOutputDistWait), "output_dist_wait");
  EXPECT_EQ(stage_named("lookup"), std::nullopt);
  EXPECT_EQ(part_named("embedding"), Part::kEmbedding);
  EXPECT_EQ(validate_mode_named("unsafe"), ValidateMode::kUnsafe);
}

TEST(Effects, EveryResourceIsMadeAndUsed) {
  std::set<Resource> made;
  std::set<Resource> used;
  for (const Placed& placed : all_stages()) {
    made.merge(written(placed));
    used.merge(read(placed));
  }
  EXPECT_EQ(made.size(), kResources);
  EXPECT_EQ(used.size(), kResources);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kResources; ++i) names.insert(traits_of(static_cast<Resource>(i)).name);
  EXPECT_EQ(names.size(), kResources);
}

TEST(Effects, OnlyWhatIsMadeForABatchIsRequiredOrInFlight) {
  for (const Placed& placed : all_stages()) {
    for (const Read& r : effects_of(placed.stage, placed.part).reads) {
      EXPECT_TRUE(!r.required || traits_of(r.resource).per_batch) << to_string(placed.stage);
    }
  }
  for (std::size_t i = 0; i < kResources; ++i) {
    const ResourceTraits& traits = traits_of(static_cast<Resource>(i));
    EXPECT_TRUE(!traits.must_be_read || traits.per_batch) << traits.name;
  }
}

TEST(Effects, PartsOfBackwardMakeWhatTheWholeMakes) {
  std::set<Resource> parts = written({Stage::kBackward, Part::kDense});
  parts.merge(written({Stage::kBackward, Part::kEmbedding}));
  parts.erase(Resource::kPooledGradients);  // passes from one part to the other
  EXPECT_EQ(parts, written({Stage::kBackward, std::nullopt}));
}

TEST(Effects, TablesAreUpdatedInsideBackwardAndDenseParametersByTheOptimizer) {
  EXPECT_TRUE(written({Stage::kBackward, std::nullopt}).contains(Resource::kTables));
  EXPECT_TRUE(written({Stage::kBackward, Part::kEmbedding}).contains(Resource::kTables));
  EXPECT_FALSE(written({Stage::kBackward, Part::kDense}).contains(Resource::kTables));
  EXPECT_EQ(written({Stage::kOptimizerStep, std::nullopt}), std::set{Resource::kDenseParameters});
}

TEST(Effects, TheHostWaitsInAllThreePhasesOfInputDist) {
  for (const Placed& placed : all_stages()) {
    const HostBlock host = effects_of(placed.stage, placed.part).host;
    const bool input_dist = to_string(placed.stage).starts_with("input_dist_");
    EXPECT_EQ(host == HostBlock::kStream, input_dist) << to_string(placed.stage);
    EXPECT_EQ(host == HostBlock::kByMode, placed.stage == Stage::kValidateOutput) << to_string(placed.stage);
    EXPECT_EQ(effects_of(placed.stage, placed.part).on_device, placed.stage != Stage::kNextBatch);
  }
}

TEST(Effects, CollectivesAreIssuedWhereTorchRecIssuesThem) {
  std::set<std::string_view> issuing;
  for (const Placed& placed : all_stages()) {
    if (effects_of(placed.stage, placed.part).issues_collective) issuing.insert(to_string(placed.stage));
  }
  EXPECT_EQ(issuing, (std::set<std::string_view>{"input_dist_start", "input_dist_wait", "output_dist_start", "backward",
                                                 "all_to_all"}));
}

TEST(TableUpdate, RunsWhereTheLookupRan) {
  const auto names = [](std::string_view schedule_name) {
    const Schedule schedule = find(schedule_name);
    std::vector<std::string> streams;
    for (const StreamIndex stream : table_update_streams(schedule)) streams.push_back(schedule.stream(stream).name);
    return streams;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("torchrec/sparse_dist"), Names{"main"});
  EXPECT_EQ(names("torchrec/fused_sparse_dist"), Names{"data_dist"});  // lookup is another name for it
  EXPECT_EQ(names("torchrec/fused_sparse_dist_new_stream"), Names{"lookup"});
  EXPECT_EQ(names("torchrec/fused_sparse_dist_current_stream"), Names{"main"});
  EXPECT_EQ(names("recsys/dp_only"), Names{});
}

TEST(Effects, StepsAddTheResourcesThatTheyName) {
  StageStep step{.stage = Stage::kInputDistFinish};
  step.reads = {"tables", "input_exchange", "mine"};
  step.writes = {"kjt", "pooled", "mine"};
  const auto reads = reads_of(step);
  ASSERT_EQ(reads.size(), 2U);
  EXPECT_EQ(reads[0].resource, Resource::kInputExchange);
  EXPECT_EQ(reads[1].resource, Resource::kTables);
  EXPECT_EQ(writes_of(step), (std::vector{Resource::kKjt, Resource::kPooled}));
  EXPECT_EQ(resource_named("mine"), std::nullopt);
  for (std::size_t i = 0; i < kResources; ++i) {
    EXPECT_EQ(resource_named(traits_of(static_cast<Resource>(i)).name), static_cast<Resource>(i));
  }
}

TEST(Effects, OnlyThePrefetchLocksTables) {
  const auto locks = [](Stage stage) { return std::ranges::any_of(effects_of(stage).reads, &Read::locked); };
  EXPECT_TRUE(locks(Stage::kPrefetch));
  EXPECT_FALSE(locks(Stage::kEmbeddingLookup));
  EXPECT_FALSE(locks(Stage::kBackward));
}

TEST(TableUpdate, OfOneModule) {
  const auto lookup = [](const char* module, std::uint32_t stream) {
    return Step{StageStep{.stage = Stage::kEmbeddingLookup, .stream = StreamIndex{stream}, .module = module}};
  };
  const Schedule schedule{.streams = {{.name = "main"}, {.name = "side"}},
                          .iteration = {lookup("a", 1), lookup("b", 0)}};
  EXPECT_EQ(table_update_streams(schedule), (std::vector{StreamIndex{1}, StreamIndex{0}}));
  EXPECT_EQ(table_update_streams(schedule, "b"), std::vector{StreamIndex{0}});
}

TEST(Runs, FillsAndDrains) {
  EXPECT_EQ(depth(find("torchrec/base")), 1);
  EXPECT_EQ(depth(find("torchrec/sparse_dist")), 2);
  EXPECT_EQ(depth(find("torchrec/semi_sync")), 3);
  EXPECT_EQ(depth(find("comms/a2a_sync")), 0);

  // Two batches through a step of batch i+2: it runs in iterations -2 and -1, and for no batch beyond the last.
  const StageStep copy{.stage = Stage::kCopyBatchToGpu, .batch = 2};
  EXPECT_FALSE(runs(copy, -3, 2));
  EXPECT_TRUE(runs(copy, -2, 2));
  EXPECT_TRUE(runs(copy, -1, 2));
  EXPECT_FALSE(runs(copy, 0, 2));
}

}  // namespace
}  // namespace interlace::schedule
