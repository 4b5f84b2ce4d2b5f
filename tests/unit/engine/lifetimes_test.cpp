#include "engine/pipeline/lifetimes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "simulator/schedule/library.hpp"
#include "simulator/schedule/parse.hpp"
#include "tests/support/error_text.hpp"

namespace interlace::engine {
namespace {

using schedule::Schedule;

Schedule parsed(const std::string& iteration) {
  return schedule::parse(
      fmt::format(R"({{"interlace_schedule": 1, "name": "t", "streams": {{"main": {{}}}}, "iteration": [{}]}})",
                  iteration),
      "test");
}

const std::vector<std::string> kModules = {"first", "second"};

// "kjt 01 behind backward 0" for each thing that goes behind a stage: of modules 0 and 1.
std::set<std::string> releases(const Schedule& schedule) {
  std::set<std::string> lines;
  for (const auto& [step, things] : plan_releases(schedule, kModules)) {
    const std::string behind =
        fmt::format(" behind {} {}{}", to_string(step->stage), step->batch, step->module ? " of " + *step->module : "");
    for (const auto& [resource, modules] : things.resources) {
      lines.insert(fmt::format("{} {}{}", schedule::traits_of(resource).name, fmt::join(modules, ""), behind));
    }
    for (const std::string& name : things.named) lines.insert(name + behind);
  }
  return lines;
}

const std::string kMake = R"({"stage": "compute", "batch": 0, "stream": "main", "module": "a", "writes": ["x"])";
const std::string kRead = R"({"stage": "compute", "batch": 0, "stream": "main", "module": "b", "reads": ["x"])";
const std::string kIdle = R"({"stage": "compute", "batch": 0, "stream": "main", "module": "c")";
const std::string kZero = R"({"stage": "zero_grad", "batch": 0, "stream": "main"})";

TEST(Lifetimes, AThingGoesBehindItsLastReader) {
  EXPECT_EQ(releases(parsed(kMake + "}," + kRead + "}," + kIdle + "}")),
            (std::set<std::string>{"x behind compute 0 of b"}));
  const Schedule schedule = parsed(kMake + "}," + kRead + "}," + kIdle + "}");
  EXPECT_EQ(plan_releases(schedule, kModules).begin()->first,
            &std::get<schedule::StageStep>(schedule.iteration[1].action));
}

// A reader of batch i comes an iteration behind one of batch i+1, though above it in the file.
TEST(Lifetimes, TheNearestBatchIsTheLastOne) {
  const Schedule schedule = parsed(
      R"({"stage": "compute", "batch": 0, "stream": "main", "module": "near", "reads": ["x"]},
         {"stage": "compute", "batch": 1, "stream": "main", "module": "far", "writes": ["x"]})");
  EXPECT_EQ(releases(schedule), (std::set<std::string>{"x behind compute 0 of near"}));
}

TEST(Lifetimes, KeptUntilHoldsLongerAndNeverShorter) {
  EXPECT_EQ(releases(parsed(kMake + R"(, "kept_until": "zero_grad"},)" + kRead + "}," + kZero)),
            (std::set<std::string>{"x behind zero_grad 0"}));
  EXPECT_EQ(releases(parsed(kMake + R"(, "kept_until": "zero_grad"},)" + kZero + "," + kRead + "}")),
            (std::set<std::string>{"x behind compute 0 of b"}));
  EXPECT_EQ(releases(parsed(kMake + R"(, "kept_until": "iteration_end"},)" + kRead + "}")), (std::set<std::string>{}));
}

TEST(Lifetimes, FreesComesFirst) {
  EXPECT_EQ(releases(parsed(kMake + R"(, "kept_until": "iteration_end"},)" + kRead + R"(, "frees": ["x"]},)" + kZero)),
            (std::set<std::string>{"x behind compute 0 of b"}));
}

TEST(Lifetimes, WhatIsFreedMayNotBeNeededAgain) {
  const auto refusal = [](const std::string& iteration) {
    return testing::error_text([&] { static_cast<void>(plan_releases(parsed(iteration), kModules)); });
  };
  const std::string late = refusal(kMake + R"(, "frees": ["x"]},)" + kRead + "}");
  EXPECT_NE(late.find("error[engine.unsupported_stage]: test:1: "), std::string::npos) << late;
  EXPECT_NE(late.find("needs x, which stage \"compute\" has freed"), std::string::npos) << late;
  const std::string tables = refusal(kIdle + R"(, "frees": ["tables"]})");
  EXPECT_NE(tables.find("frees tables, which live through the training"), std::string::npos) << tables;
}

const std::string kInput = R"(
    {"stage": "copy_batch_to_gpu", "batch": 0, "stream": "main"},
    {"stage": "input_dist_start", "batch": 0, "stream": "main"},
    {"stage": "input_dist_wait", "batch": 0, "stream": "main"},
    {"stage": "input_dist_finish", "batch": 0, "stream": "main"},)";
const std::string kLookUpFirst = R"({"stage": "embedding_lookup", "batch": 0, "stream": "main", "module": "first")";
const std::string kLookUpSecond = R"({"stage": "embedding_lookup", "batch": 0, "stream": "main", "module": "second")";
const std::string kOutput = R"(
    {"stage": "output_dist_start", "batch": 0, "stream": "main", "module": "first"},
    {"stage": "output_dist_start", "batch": 0, "stream": "main", "module": "second"},
    {"stage": "output_dist_wait", "batch": 0, "stream": "main"})";

// A later stage of another module needs its own.
TEST(Lifetimes, AModuleGivesUpItsOwnBehindItsOwnStages) {
  const auto freed_by_first = releases(
      parsed(kInput + kLookUpFirst + R"(, "frees": ["kjt"]},)" + kLookUpSecond + R"(, "frees": ["kjt"]},)" + kOutput));
  for (const char* line :
       {"kjt 0 behind embedding_lookup 0 of first", "kjt 1 behind embedding_lookup 0 of second",
        "looked_up 0 behind output_dist_start 0 of first", "looked_up 1 behind output_dist_start 0 of second"}) {
    EXPECT_TRUE(freed_by_first.contains(line)) << line;
  }
  const auto freed_by_one =
      releases(parsed(kInput + kLookUpFirst + R"(, "frees": ["kjt"]},)" + kLookUpSecond + "}," + kOutput));
  EXPECT_TRUE(freed_by_one.contains("kjt 0 behind embedding_lookup 0 of first"));
  EXPECT_TRUE(freed_by_one.contains("kjt 1 behind embedding_lookup 0 of second"));
  const std::string again = testing::error_text([&] {
    static_cast<void>(plan_releases(
        parsed(kInput + kLookUpFirst + R"(, "frees": ["kjt"]},)" + kLookUpSecond + "}," + kOutput +
               R"(, {"stage": "compute", "batch": 0, "stream": "main", "module": "mine", "reads": ["kjt"]})"),
        kModules));
  });
  EXPECT_NE(again.find("stage \"compute\" needs kjt"), std::string::npos) << again;
}

// As the files of the library say it: what TorchRec's contexts hold, and for how long.
TEST(Lifetimes, OfASchedule) {
  const std::set<std::string> of_sparse_dist = releases(schedule::find("torchrec/sparse_dist"));
  for (const char* line : {"splits 01 behind output_dist_start 0", "input_exchange 01 behind output_dist_start 0",
                           "looked_up 01 behind output_dist_start 0", "kjt 01 behind backward 0"}) {
    EXPECT_TRUE(of_sparse_dist.contains(line)) << line;
  }
  for (const std::string& line : of_sparse_dist) EXPECT_FALSE(line.starts_with("batch ")) << line;
}

}  // namespace
}  // namespace interlace::engine
