#include "simulator/check/collective_order.hpp"

#include <gtest/gtest.h>

#include <string>

#include "simulator/schedule/library.hpp"
#include "tests/unit/check/schedules.hpp"

namespace interlace::check {
namespace {

using schedule::find;
using schedule::Schedule;

TEST(CollectiveOrder, OfOneScheduleIsOne) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const Schedule schedule = find(entry.name);
    EXPECT_TRUE(compare_collectives({{&schedule, {}}, {&schedule, {}}, {&schedule, {}}}, {}).empty()) << entry.name;
  }
}

// The variants of the fused pipeline issue alike; sparse_dist sends the splits of i+1 before the lookup of i.
TEST(CollectiveOrder, OfDifferentSchedulesMayDiffer) {
  const Schedule sparse = find("torchrec/sparse_dist");
  const Schedule fused = find("torchrec/fused_sparse_dist");
  const Schedule fresh = find("torchrec/fused_sparse_dist_new_stream");
  EXPECT_TRUE(compare_collectives({{&fused, {}}, {&fresh, {}}}, {}).empty());
  const auto hazards = compare_collectives({{&sparse, {}}, {&sparse, {}}, {&fused, {}}}, {});
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_EQ(hazards.front().kind, HazardKind::kCollectiveOrder);
  EXPECT_EQ(hazards.front().earlier.does, "rank 0");
  EXPECT_EQ(hazards.front().earlier.operation, "a collective of input_dist_start(i+1)");
  EXPECT_EQ(hazards.front().later.does, "rank 2");
  EXPECT_EQ(hazards.front().later.operation, "a collective of output_dist_start(i)");
}

// A rank whose data ends a batch before the others' (torchrec #4158).
TEST(CollectiveOrder, EndsWhereABatchIsMissing) {
  const Schedule base = find("torchrec/base");
  const auto hazards = compare_collectives({{&base, 3}, {&base, 2}}, {});
  ASSERT_EQ(hazards.size(), 1U);
  EXPECT_EQ(hazards.front().kind, HazardKind::kDeadlock);
  EXPECT_EQ(hazards.front().later.operation, "no collective any more");
  EXPECT_EQ(hazards.front().phase, Phase::kDraining);
  EXPECT_TRUE(compare_collectives({{&base, 3}, {&base, 3}}, {}).empty());
  // Pipelined, the ranks part before the last batch: its splits are sent an iteration ahead.
  const Schedule sparse = find("torchrec/sparse_dist");
  const auto pipelined = compare_collectives({{&sparse, 3}, {&sparse, 2}}, {});
  ASSERT_EQ(pipelined.size(), 1U);
  EXPECT_EQ(pipelined.front().kind, HazardKind::kCollectiveOrder);
}

TEST(CollectiveOrder, LooksAtTheDataThatIsExchanged) {
  const auto exchange = [](const std::string& first, const std::string& second) {
    const auto one = [](const std::string& name) {
      return work("main", "", name) + R"(, {"stage": "all_to_all", "batch": 0, "stream": "main", "reads": [")" + name +
             R"("], "writes": ["got_)" + name + R"("]})";
    };
    return steps(one(first) + "," + one(second));
  };
  const Schedule ab = exchange("a", "b");
  const Schedule ba = exchange("b", "a");
  EXPECT_EQ(compare_collectives({{&ab, {}}, {&ba, {}}}, {}).size(), 1U);
}

// One exchanges the same as the other, in one step or in two.
TEST(CollectiveOrder, DoesNotLookAtThePartsOfBackward) {
  const Schedule whole = schedule::find("torchrec/base");
  Schedule parts = whole;
  for (auto step = parts.iteration.begin(); step != parts.iteration.end(); ++step) {
    auto* stage = std::get_if<schedule::StageStep>(&step->action);
    if (stage == nullptr || stage->stage != schedule::Stage::kBackward) continue;
    stage->part = schedule::Part::kDense;
    schedule::Step embedding = *step;
    std::get<schedule::StageStep>(embedding.action).part = schedule::Part::kEmbedding;
    parts.iteration.insert(step + 1, embedding);
    break;
  }
  EXPECT_TRUE(compare_collectives({{&whole, {}}, {&parts, {}}}, {}).empty());
  // The other way round it is another order.
  Schedule turned = parts;
  for (auto step = turned.iteration.begin(); step != turned.iteration.end(); ++step) {
    auto* stage = std::get_if<schedule::StageStep>(&step->action);
    if (stage == nullptr || stage->part != schedule::Part::kDense) continue;
    std::iter_swap(step, step + 1);
    break;
  }
  EXPECT_EQ(compare_collectives({{&parts, {}}, {&turned, {}}}, {}).size(), 1U);
}

// The splits of two modules, one by one.
std::string splits_of(const std::string& first, const std::string& second, const std::string& more = "") {
  std::string lines = R"({"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"})";
  for (const char* stage : {"input_dist_start", "input_dist_wait"}) {
    for (const std::string& module : {first, second}) {
      lines +=
          fmt::format(R"(, {{"stage": "{}", "batch": 0, "stream": "main", "module": "{}"{}}})", stage, module, more);
    }
  }
  return lines + R"(, {"stage": "input_dist_finish", "batch": 0, "stream": "main"})";
}

TEST(CollectiveOrder, TellsModulesByTheirNames) {
  const Schedule rank = steps(splits_of("item", "user"));
  const Schedule swapped = steps(splits_of("user", "item"));
  const Schedule other = steps(splits_of("user", "zip"));  // in the same places among the names
  EXPECT_TRUE(compare_collectives({{&rank, {}}, {&rank, {}}}, {}).empty());
  EXPECT_EQ(compare_collectives({{&rank, {}}, {&swapped, {}}}, {}).size(), 1U);
  EXPECT_EQ(compare_collectives({{&rank, {}}, {&other, {}}}, {}).size(), 1U);
}

TEST(CollectiveOrder, LooksAtNoDataBesideWhatIsExchanged) {
  const Schedule rank = steps(splits_of("item", "user"));
  const Schedule probed = steps(splits_of("item", "user", R"(, "writes": ["probe"])"));
  EXPECT_TRUE(compare_collectives({{&rank, {}}, {&probed, {}}}, {}).empty());
}

}  // namespace
}  // namespace interlace::check
