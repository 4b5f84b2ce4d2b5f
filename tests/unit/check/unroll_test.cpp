#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/check/happens_before.hpp"
#include "simulator/check/words.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/support/events_of_modules.hpp"
#include "tests/unit/check/schedules.hpp"

namespace interlace::check {
namespace {

UnrollOptions batches(std::int64_t number) {
  UnrollOptions options;
  options.batches = number;
  return options;
}

// "lane: operation" of the operations of one batch, in host order, as seen from iteration 0.
std::vector<std::string> lines(const Program& program, std::int64_t batch) {
  std::vector<std::string> lines;
  for (const Operation& op : program.operations) {
    if (op.batch != batch) continue;
    lines.push_back(program.lanes[op.lane.index()].name + ": " + name_of(program, op, 0));
  }
  return lines;
}

TEST(Unroll, MakesEachStageTheOperationsThatItIs) {
  const schedule::Schedule base = schedule::find("torchrec/base");
  UnrollOptions options = batches(1);
  options.unnamed_modules = 1;
  const Program program = unroll(base, options);
  EXPECT_EQ(lines(program, 0),
            (std::vector<std::string>{"host: next_batch(i)", "memcpy: copy_batch_to_gpu(i)", "main: zero_grad(i)",
                                      "main: input_dist_start(i)", "collectives: a collective of input_dist_start(i)",
                                      "collectives: a collective of input_dist_wait(i)", "main: input_dist_finish(i)",
                                      "main: embedding_lookup(i)",
                                      "main: output_dist_start(i)",  // what was looked up is packed
                                      "collectives: a collective of output_dist_start(i)", "main: output_dist_wait(i)",
                                      "main: dense_forward(i)", "main: backward(i)",
                                      "collectives: a collective of backward(i)",  // all-reduce of dense gradients
                                      "collectives: a collective of backward(i)",  // gradients of the embeddings
                                      "main: the table update of backward(i)", "main: optimizer_step(i)"}));
}

TEST(Unroll, LeavesOutBatchesThatAreNotThere) {
  const schedule::Schedule schedule = schedule::find("torchrec/sparse_dist");
  const Program program = unroll(schedule, batches(3));
  for (std::int64_t batch = 0; batch < 3; ++batch) EXPECT_EQ(lines(program, batch).size(), 26U) << batch;
  EXPECT_EQ(program.operations.size(), 3 * 26U);
  EXPECT_EQ(program.operations.front().iteration, -2);
  EXPECT_EQ(program.operations.back().iteration, 2);
}

// Autograd runs the update where the lookup ran, between two joins with the stream of backward.
TEST(Unroll, UpdatesTablesOnTheStreamOfTheLookup) {
  const schedule::Schedule schedule = schedule::find("torchrec/fused_sparse_dist_new_stream");
  const Program program = unroll(schedule, batches(2));
  const HappensBefore order(program, false);
  const auto find = [&](Role role, schedule::Stage stage, std::int64_t batch) {
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      const Operation& op = program.operations[o];
      if (op.role == role && program.stage(op.stage).stage == stage && op.batch == batch) return OperationIndex{o};
    }
    ADD_FAILURE();
    return OperationIndex{};
  };
  const OperationIndex update = find(Role::kTableUpdate, schedule::Stage::kBackward, 0);
  EXPECT_EQ(program.lanes[program.operation(update).lane.index()].name, "lookup");
  EXPECT_TRUE(order.before(find(Role::kWork, schedule::Stage::kBackward, 0), update));
  EXPECT_TRUE(order.before(update, find(Role::kWork, schedule::Stage::kOptimizerStep, 0)));
  EXPECT_FALSE(order.before(find(Role::kWork, schedule::Stage::kOptimizerStep, 0),
                            find(Role::kWork, schedule::Stage::kEmbeddingLookup, 1)));
}

TEST(Unroll, OneRankHasNoCollectives) {
  const schedule::Schedule schedule = schedule::find("torchrec/sparse_dist");
  UnrollOptions options = batches(2);
  options.collectives = false;
  const Program program = unroll(schedule, options);
  EXPECT_TRUE(
      std::ranges::none_of(program.operations, [&](const Operation& op) { return op.lane == program.collectives(); }));
  EXPECT_EQ(program.operations.size(), unroll(schedule, batches(2)).operations.size());
}

TEST(Unroll, FeatureProcessorsReadWhatTheOptimizerWrites) {
  const schedule::Schedule schedule = schedule::find("torchrec/base");
  UnrollOptions options = batches(1);
  const auto lookup_reads = [&](schedule::Resource resource) {
    const Program program = unroll(schedule, options);
    for (const Operation& op : program.operations) {
      if (program.stage(op.stage).stage != schedule::Stage::kEmbeddingLookup) continue;
      return std::ranges::any_of(op.accesses, [&](const Access& access) {
        return program.data[access.datum.index()].resource == resource && !access.writes;
      });
    }
    return false;
  };
  EXPECT_TRUE(lookup_reads(schedule::Resource::kTables));
  EXPECT_FALSE(lookup_reads(schedule::Resource::kDenseParameters));
  options.feature_processors = true;
  EXPECT_TRUE(lookup_reads(schedule::Resource::kDenseParameters));
}

// It needs the gradient of the lookup, which the exchange of the embedding part brings.
TEST(Unroll, TheGradientOfAFeatureProcessorComesWithThatOfItsLookup) {
  std::string text;
  for (const char* stage : {"copy_batch_to_gpu", "input_dist_start", "input_dist_wait", "input_dist_finish"}) {
    text += fmt::format(R"({{"stage": "{}", "batch": 0, "stream": "main"}}, )", stage);
  }
  text += R"({"stage": "feature_processor", "batch": 0, "stream": "side"}, )";
  for (const char* stage : {"embedding_lookup", "output_dist_start", "output_dist_wait", "dense_forward"}) {
    text += fmt::format(R"({{"stage": "{}", "batch": 0, "stream": "main"}}, )", stage);
  }
  text += R"({"stage": "backward", "batch": 0, "stream": "main", "part": "dense"},
             {"stage": "backward", "batch": 0, "stream": "main", "part": "embedding"})";
  const schedule::Schedule schedule = steps(text);
  UnrollOptions options = batches(1);
  options.unnamed_modules = 1;
  const Program program = unroll(schedule, options);
  const HappensBefore order(program, false);
  std::vector<OperationIndex> exchanges;
  std::vector<OperationIndex> gradients;
  for (OperationIndex op{0}; op.index() < program.operations.size(); ++op.value) {
    const Operation& one = program.operation(op);
    if (program.stage(one.stage).part != schedule::Part::kEmbedding) continue;
    if (one.role == Role::kCollective) exchanges.push_back(op);
    if (one.role == Role::kSideGradient) gradients.push_back(op);
  }
  ASSERT_EQ(exchanges.size(), 2U) << "of the lookup's gradient and, all-reduced, of the processor's";
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_EQ(program.lanes[program.operation(gradients[0]).lane.index()].name, "side");
  EXPECT_TRUE(order.before(exchanges[0], gradients[0]));
  EXPECT_TRUE(order.before(gradients[0], exchanges[1]));
}

// Position of the free of the one buffer of a datum; 0 where it is never freed.
std::size_t free_of(const Program& program, const std::string& datum) {
  for (const Buffer& buffer : program.buffers) {
    if (program.data[buffer.datum.index()].name == datum) return buffer.freed_at.value_or(0);
  }
  return 0;
}

std::size_t run_of(const Program& program, std::size_t stage) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    if (instruction.kind == Instruction::Kind::kRun &&
        program.operation(instruction.operation).stage.index() == stage) {
      return i;
    }
  }
  return 0;
}

// Batch 0 of three stages: x is made, read, and then something else runs, and so on an iteration later.
std::string three(const std::string& kept) {
  return work("main", "", "x", kept) + kThen + work("main", "x", "") + kThen + work("main", "", "y");
}

TEST(Unroll, GivesMemoryBackBehindTheLastUseOrLater) {
  const schedule::Schedule schedule = steps(three(""));
  const Program program = unroll(schedule, batches(1));
  EXPECT_GT(free_of(program, "x"), run_of(program, 1));
  EXPECT_LT(free_of(program, "x"), run_of(program, 2));
  for (const std::string kept : {"iteration_end", "compute"}) {
    const schedule::Schedule longer = steps(three(R"(, "kept_until": ")" + kept + "\""));
    const Program held = unroll(longer, batches(2));
    EXPECT_GT(free_of(held, "x"), run_of(held, 2)) << kept;
    EXPECT_LT(free_of(held, "x"), held.instructions.size() / 2) << kept;
  }
}

TEST(Unroll, FreesByNameRightBehindTheStage) {
  const schedule::Schedule schedule = steps(
      work("main", "", "x") + kThen + work("main", "x", "", R"(, "frees": ["x"])") + kThen + work("main", "", ""));
  const Program program = unroll(schedule, batches(1));
  EXPECT_GT(free_of(program, "x"), run_of(program, 1));
  EXPECT_LT(free_of(program, "x"), run_of(program, 2));
}

// Whether an operation of the stage that has `word` touches host_batch: only the copy to the GPU does by itself.
bool touches_host_batch(const std::string& backward, const std::string& word, bool writes) {
  const schedule::Schedule schedule = steps(R"({"stage": "next_batch", "batch": 0},
      {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"},
      {"stage": "input_dist_start", "batch": 0, "stream": "main"},
      {"stage": "input_dist_wait", "batch": 0, "stream": "main"},
      {"stage": "input_dist_finish", "batch": 0, "stream": "main"},
      {"stage": "embedding_lookup", "batch": 0, "stream": "main"},
      {"stage": "output_dist_start", "batch": 0, "stream": "main"},
      {"stage": "output_dist_wait", "batch": 0, "stream": "main"},
      {"stage": "dense_forward", "batch": 0, "stream": "main"},)" +
                                            backward);
  UnrollOptions options = batches(1);
  options.unnamed_modules = 1;
  const Program program = unroll(schedule, options);
  return std::ranges::any_of(program.operations, [&](const Operation& op) {
    return name_of(program, op, 0).find(word) != std::string::npos &&
           std::ranges::any_of(op.accesses, [&](const Access& access) {
             const Datum& datum = program.data[access.datum.index()];
             return datum.resource == schedule::Resource::kHostBatch && access.writes == writes;
           });
  });
}

// What a step names beside the data of its stage is touched, whatever operations the stage is made of.
TEST(Unroll, TouchesTheResourcesThatAStepNames) {
  for (const bool writes : {true, false}) {
    const std::string named =
        fmt::format(R"("batch": 0, "stream": "main", "{}": ["host_batch"])", writes ? "writes" : "reads");
    const auto step = [](const std::string& what, const std::string& rest) {
      return fmt::format(R"({{{}, {}}})", what, rest);
    };
    const std::string plain = R"("batch": 0, "stream": "main")";
    const std::string dense = R"("stage": "backward", "part": "dense")";
    const std::string embedding = R"("stage": "backward", "part": "embedding")";
    EXPECT_TRUE(touches_host_batch(step(R"("stage": "backward")", named), "backward", writes)) << writes;
    EXPECT_TRUE(touches_host_batch(step(dense, named) + kThen + step(embedding, plain), "backward", writes)) << writes;
    EXPECT_TRUE(touches_host_batch(step(dense, plain) + kThen + step(embedding, named), "backward", writes)) << writes;
    EXPECT_TRUE(
        touches_host_batch(step(R"("stage": "validate_output", "mode": "blocking")", named), "validate_output", writes))
        << writes;
  }
}

// An event inside for_each is that of the same module; behind it, that of the last.
TEST(Unroll, EventsOfModulesAreApart) {
  const schedule::Schedule schedule = schedule::parse(test::kEventsOfModules, "test");
  const Program program = unroll(schedule, batches(1));
  ASSERT_EQ(program.modules.size(), 2U);
  // The first behind each lookup.
  std::vector<MarkIndex> behind_lookups;
  bool looked = false;
  std::vector<MarkIndex> awaited;
  for (const Instruction& i : program.instructions) {
    const bool on_lookup = program.lanes[i.lane.index()].name == "lookup";
    if (i.kind == Instruction::Kind::kRun) looked = on_lookup;
    if (i.kind == Instruction::Kind::kMark && on_lookup && looked) behind_lookups.push_back(i.mark);
    if (i.kind == Instruction::Kind::kMark) looked = false;
    if (i.kind == Instruction::Kind::kWait && i.cause == Instruction::Cause::kWritten) awaited.push_back(i.mark);
  }
  ASSERT_GE(behind_lookups.size(), 2U);
  ASSERT_GE(awaited.size(), 4U) << "that of the lookup's stream for main first";
  EXPECT_EQ((std::vector(awaited.begin() + 1, awaited.begin() + 4)),
            (std::vector{behind_lookups[0], behind_lookups[1], behind_lookups[1]}));
}

}  // namespace
}  // namespace interlace::check
