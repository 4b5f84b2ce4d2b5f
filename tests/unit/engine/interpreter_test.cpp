#include "engine/pipeline/interpreter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "engine/cpu/device.hpp"
#include "engine/runtime/range_observer.hpp"
#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"

namespace interlace::engine {
namespace {

using schedule::Schedule;

// Writes down what it is asked to do, and when the host reads what validate_output has copied. Each stage queues one
// work that writes down when it runs.
class Recorder : public StageRunner {
 public:
  explicit Recorder(Device& device) : device_(&device) {}

  StageOutcome run(const StageCall& call) override {
    std::string modules;
    for (const std::size_t module : call.modules) modules += static_cast<char>('a' + module);
    const std::string name = fmt::format("{} {}{}", to_string(call.step->stage), call.batch,
                                         call.step->stage == schedule::Stage::kEmbeddingLookup ? modules : "");
    issued.push_back(name);
    device_->launch(call.stream, [this, name](NativeStream) { ran.push_back(name); });
    if (call.step->stage != schedule::Stage::kValidateOutput) return {};
    return {.collective = {},
            .on_host_wait = [this, what = fmt::format("read {}{}", call.batch, modules)] { issued.push_back(what); }};
  }
  void release(schedule::Resource resource, std::int64_t batch, const std::vector<std::size_t>& modules,
               const std::vector<StreamId>& /*users*/) override {
    issued.push_back(fmt::format("free {} {} {}", schedule::traits_of(resource).name, batch, modules.size()));
  }
  void release_named(const std::string& name, std::int64_t batch, const std::vector<StreamId>& /*users*/) override {
    issued.push_back(fmt::format("free {} {}", name, batch));
  }
  void end(std::int64_t batch) override { issued.push_back(fmt::format("end {}", batch)); }

  std::vector<std::string> issued;
  std::vector<std::string> ran;

 private:
  Device* device_;
};

struct Outcome {
  std::vector<std::string> issued;
  std::vector<std::string> ran;
};

Outcome interpret(const Schedule& schedule, std::int64_t batches, std::uint64_t seed,
                  const std::vector<std::string>& modules = {"first", "second"}, RangeObserver* observer = nullptr) {
  Outcome outcome;
  cpu::CpuCluster cluster(1, {.seed = seed, .observer = observer});
  cluster.run([&](int rank) {
    cpu::CpuDevice device(cluster, rank);
    Recorder recorder(device);
    Interpreter(schedule, modules, make_streams(schedule, device), device, recorder).run(batches);
    device.synchronize();
    outcome = {recorder.issued, recorder.ran};
  });
  return outcome;
}

Schedule parsed(const std::string& streams, const std::string& iteration) {
  return schedule::parse(
      fmt::format(R"({{"interlace_schedule": 1, "name": "t", "streams": {{{}}}, "iteration": [{}]}})", streams,
                  iteration),
      "test");
}

std::vector<std::string> without_frees(std::vector<std::string> issued) {
  std::erase_if(issued,
                [](const std::string& entry) { return entry.starts_with("free ") || entry.starts_with("end "); });
  return issued;
}

// Depth 2, three batches: iterations -2 to 2.
TEST(Interpreter, FillsAndDrainsThePipelineByTheBatches) {
  const Schedule schedule = parsed(R"("main": {})", R"(
      {"stage": "compute", "batch": 0, "stream": "main"},
      {"stage": "next_batch", "batch": 2, "stream": "main"},
      {"stage": "all_to_all", "batch": 1, "stream": "main"})");
  EXPECT_EQ(without_frees(interpret(schedule, 3, 1).issued),
            (std::vector<std::string>{"next_batch 0",                               // -2
                                      "next_batch 1", "all_to_all 0",               // -1
                                      "compute 0", "next_batch 2", "all_to_all 1",  // 0
                                      "compute 1", "all_to_all 2", "compute 2"}));
}

TEST(Interpreter, ForEachRunsItsStepsModuleByModule) {
  const Schedule schedule = schedule::find("torchrec/fused_sparse_dist");
  std::vector<std::string> lookups;
  for (const std::string& entry : interpret(schedule, 2, 1).issued) {
    if (entry.starts_with("embedding_lookup") || entry.starts_with("output_dist_start")) lookups.push_back(entry);
  }
  EXPECT_EQ(lookups, (std::vector<std::string>{"embedding_lookup 0a", "output_dist_start 0", "embedding_lookup 0b",
                                               "output_dist_start 0", "embedding_lookup 1a", "output_dist_start 1",
                                               "embedding_lookup 1b", "output_dist_start 1"}));
}

// kjt of a module is read last by backward, in all; looked_up by output_dist_start, module by module. The batch is
// kept until the iteration ends, and splits until the pooled embeddings are sent.
TEST(Interpreter, GivesUpThingsBehindTheirLastReader) {
  const std::vector<std::string> issued = interpret(schedule::find("torchrec/sparse_dist"), 1, 1).issued;
  const auto position = [&](const std::string& entry) { return std::ranges::find(issued, entry) - issued.begin(); };
  EXPECT_LT(position("embedding_lookup 0a"), position("free looked_up 0 1"));
  EXPECT_LT(position("free looked_up 0 1"), position("embedding_lookup 0b"));
  EXPECT_EQ(std::ranges::count(issued, "free looked_up 0 1"), 2);
  EXPECT_EQ(std::ranges::count(issued, "free batch 0 2"), 0);
  EXPECT_LT(position("input_dist_finish 0"), position("free splits 0 1"));
  EXPECT_EQ(position("free splits 0 1"), position("output_dist_start 0") + 1);
  EXPECT_EQ(issued.back(), "end 0");
  EXPECT_LT(position("backward 0"), position("free kjt 0 2"));
  EXPECT_LT(position("free kjt 0 2"), position("optimizer_step 0"));
}

// Of the first module behind its lookup, which frees it; of the second, module by module, behind its last reader.
TEST(Interpreter, GivesUpThingsOfAModuleBehindItsOwnStages) {
  std::vector<std::string> issued = interpret(parsed(R"("main": {})", R"(
      {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"},
      {"stage": "input_dist_start", "batch": 0, "stream": "main"},
      {"stage": "input_dist_wait", "batch": 0, "stream": "main"},
      {"stage": "input_dist_finish", "batch": 0, "stream": "main"},
      {"stage": "embedding_lookup", "batch": 0, "stream": "main", "module": "first", "frees": ["kjt"]},
      {"stage": "embedding_lookup", "batch": 0, "stream": "main", "module": "second"},
      {"for_each": "module", "do": [{"stage": "output_dist_start", "batch": 0, "stream": "main"}]},
      {"stage": "output_dist_wait", "batch": 0, "stream": "main"})"),
                                              1, 1)
                                        .issued;
  std::erase_if(issued, [](const std::string& entry) {
    return !entry.starts_with("embedding_lookup") && !entry.starts_with("output_dist_start") &&
           !entry.starts_with("free kjt") && !entry.starts_with("free looked_up");
  });
  EXPECT_EQ(issued, (std::vector<std::string>{"embedding_lookup 0a", "free kjt 0 1", "embedding_lookup 0b",
                                              "free kjt 0 1", "output_dist_start 0", "free looked_up 0 1",
                                              "output_dist_start 0", "free looked_up 0 1"}));
}

// Every thing that a stage of some batch touches is given up once, at the end of any built-in schedule.
TEST(Interpreter, GivesUpEverythingOfEveryBatchOnce) {
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    const Schedule schedule = schedule::find(entry.name);
    std::map<std::string, int> freed;
    for (const std::string& line : interpret(schedule, 4, 1, {"only"}).issued) {
      if (line.starts_with("free ")) ++freed[line];
    }
    EXPECT_FALSE(freed.empty()) << entry.name;
    EXPECT_EQ(freed.size() % 4, 0U) << entry.name;
    for (const auto& [line, count] : freed) EXPECT_EQ(count, 1) << entry.name << ": " << line;
  }
}

TEST(Interpreter, WaitsOrderTheWorkOfStreams) {
  const std::string with_wait = R"(
      {"stage": "compute", "batch": 0, "stream": "main", "module": "a"},
      {"wait": "main", "stream": "side"},
      {"stage": "all_to_all", "batch": 0, "stream": "side"})";
  const std::string with_after = R"(
      {"stage": "compute", "batch": 0, "stream": "main", "module": "a"},
      {"stage": "all_to_all", "batch": 0, "stream": "side", "after": ["main"]})";
  const std::string with_event = R"(
      {"stage": "compute", "batch": 0, "stream": "main", "module": "a", "record": "made"},
      {"wait": "made", "on": "side"},
      {"stage": "all_to_all", "batch": 0, "stream": "side"})";
  const std::string with_recorded_event = R"(
      {"stage": "compute", "batch": 0, "stream": "main", "module": "a"},
      {"record": "made", "stream": "main"},
      {"wait": "made", "on": "side"},
      {"stage": "all_to_all", "batch": 0, "stream": "side"})";
  const std::string with_host = R"(
      {"stage": "compute", "batch": 0, "stream": "main", "module": "a"},
      {"wait": "main", "on": "host"},
      {"stage": "all_to_all", "batch": 0, "stream": "side"})";
  const std::string without = R"(
      {"stage": "compute", "batch": 0, "stream": "main", "module": "a"},
      {"stage": "all_to_all", "batch": 0, "stream": "side"})";
  const auto out_of_order = [](const std::string& iteration) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const auto ran = interpret(parsed(R"("main": {}, "side": {})", iteration), 1, seed).ran;
      found += ran == std::vector<std::string>{"compute 0", "all_to_all 0"} ? 0 : 1;
    }
    return found;
  };
  for (const std::string& ordered : {with_wait, with_after, with_event, with_recorded_event, with_host}) {
    EXPECT_EQ(out_of_order(ordered), 0) << ordered;
  }
  EXPECT_GT(out_of_order(without), 0);
}

// An event of batch i+1 is waited for one iteration later as that of batch i.
TEST(Interpreter, EventsBelongToTheBatchOfTheirStage) {
  const Schedule schedule = parsed(R"("main": {}, "side": {})", R"(
      {"wait": "copied", "on": "side"},
      {"stage": "compute", "batch": 0, "stream": "side"},
      {"stage": "next_batch", "batch": 1, "stream": "main", "record": "copied"})");
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto ran = interpret(schedule, 4, seed).ran;
    for (int batch = 0; batch < 4; ++batch) {
      const auto copied = std::ranges::find(ran, fmt::format("next_batch {}", batch));
      const auto used = std::ranges::find(ran, fmt::format("compute {}", batch));
      ASSERT_LT(copied, used) << seed;
    }
  }
}

std::vector<std::string> reads_of(const std::string& iteration, std::int64_t batches) {
  std::vector<std::string> reads = interpret(parsed(R"("main": {})", iteration), batches, 1).issued;
  std::erase_if(reads, [](const std::string& entry) { return !entry.starts_with("read "); });
  return reads;
}

// Each copy is read once, whichever wait comes to it, or none. Two modules: a and b.
TEST(Interpreter, TheHostReadsEachCopyOnce) {
  const std::string copy = R"({"stage": "validate_output", "batch": 0, "stream": "main", "mode": "event",
                               "reads": ["x"], "record": "copied"})";
  const std::string made = R"({"stage": "compute", "batch": 0, "stream": "main", "writes": ["x"]}, )";
  const std::string waited = R"({"wait": "copied", "on": "host"})";
  const std::string repeated = R"({"for_each": "module", "do": [)";
  // The wait for the last batch would stand in an iteration that there is not.
  EXPECT_EQ(reads_of(made + copy + R"(, {"wait": "copied", "on": "host", "batch": -1})", 3),
            (std::vector<std::string>{"read 0ab", "read 1ab", "read 2ab"}));
  // A wait behind the repetition is for the last module.
  EXPECT_EQ(reads_of(made + repeated + copy + ", " + waited + "]}, " + waited, 2),
            (std::vector<std::string>{"read 0a", "read 0b", "read 1a", "read 1b"}));
  EXPECT_EQ(reads_of(made + repeated + copy + "]}, " + waited, 2),
            (std::vector<std::string>{"read 0b", "read 1b", "read 0a", "read 1a"}));
  // More batches than events are kept for.
  EXPECT_EQ(reads_of(made + repeated + copy + "]}, " + waited, 50).size(), 100U);
}

// As `interlace check` has it.
TEST(Interpreter, TheHostReadsAtOnceWhereNoStepMakesItWait) {
  const std::vector<std::string> issued = without_frees(interpret(parsed(R"("main": {})", R"(
      {"stage": "compute", "batch": 0, "stream": "main", "writes": ["x"]},
      {"stage": "validate_output", "batch": 0, "stream": "main", "mode": "event", "reads": ["x"], "record": "copied"},
      {"stage": "compute", "batch": 0, "stream": "main"})"),
                                                                  1, 1)
                                                            .issued);
  EXPECT_EQ(issued, (std::vector<std::string>{"compute 0", "validate_output 0", "read 0ab", "compute 0"}));
}

TEST(Interpreter, NamesOfOneStreamAreOneStream) {
  cpu::CpuCluster cluster(1, {});
  cluster.run([&](int rank) {
    cpu::CpuDevice device(cluster, rank);
    const Schedule schedule = schedule::find("torchrec/fused_sparse_dist_current_stream");
    const auto streams = make_streams(schedule, device);
    EXPECT_EQ(streams[schedule.stream_named("lookup")->index()], streams[schedule.stream_named("main")->index()]);
    EXPECT_NE(streams[schedule.stream_named("memcpy")->index()], streams[schedule.stream_named("main")->index()]);
  });
}

TEST(Interpreter, RefusesAModuleThatTheModelLacks) {
  const Schedule schedule = parsed(R"("main": {})", R"(
      {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"},
      {"stage": "input_dist_start", "batch": 0, "stream": "main", "module": "third"},
      {"stage": "input_dist_wait", "batch": 0, "stream": "main", "module": "third"},
      {"stage": "input_dist_finish", "batch": 0, "stream": "main", "module": "third"})");
  try {
    static_cast<void>(interpret(schedule, 1, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "engine.unknown_module");
    EXPECT_NE(error.problem().find("no module \"third\""), std::string::npos);
  }
}

class Ranges : public RangeObserver {
 public:
  void entered(int /*rank*/, const std::string& range) override {
    lines.push_back(std::string(2 * depth_++, ' ') + range);
  }
  void left(int /*rank*/) noexcept override { --depth_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }
  std::vector<std::string> lines;

 private:
  std::size_t depth_ = 0;
};

TEST(Interpreter, EveryStageRunsInARangeOfItsNameAndBatch) {
  Ranges ranges;
  const Schedule schedule = parsed(R"("main": {})", R"(
      {"stage": "compute", "batch": 1, "stream": "main", "module": "before"},
      {"stage": "all_to_all", "batch": 0, "stream": "main"})");
  static_cast<void>(interpret(schedule, 2, 1, {}, &ranges));
  EXPECT_EQ(ranges.lines,
            (std::vector<std::string>{"iteration -1", "  compute 0", "    [before]", "iteration 0", "  compute 1",
                                      "    [before]", "  all_to_all 0", "iteration 1", "  all_to_all 1"}));
  EXPECT_EQ(ranges.depth(), 0U);
}

// A stage that fails leaves its ranges.
TEST(Interpreter, RangesCloseOnExceptions) {
  class Failing : public StageRunner {
    StageOutcome run(const StageCall& /*call*/) override { throw std::runtime_error("no"); }
    void release(schedule::Resource, std::int64_t, const std::vector<std::size_t>&,
                 const std::vector<StreamId>&) override {}
    void release_named(const std::string&, std::int64_t, const std::vector<StreamId>&) override {}
    void end(std::int64_t) override {}
  };
  Ranges ranges;
  cpu::CpuCluster cluster(1, {.seed = {}, .observer = &ranges});
  const Schedule schedule = parsed(R"("main": {})", R"({"stage": "compute", "batch": 0, "stream": "main"})");
  const auto run = [&] {
    cluster.run([&](int rank) {
      cpu::CpuDevice device(cluster, rank);
      Failing failing;
      Interpreter(schedule, {}, make_streams(schedule, device), device, failing).run(1);
    });
  };
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(ranges.lines.size(), 2U);
  EXPECT_EQ(ranges.depth(), 0U);
}

}  // namespace
}  // namespace interlace::engine
