// interlace-engine as a user calls it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "simulator/schedule/library.hpp"
#include "simulator/schedule/print.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/training.hpp"

namespace interlace::engine {
namespace {

using testing::Finished;

Finished engine(const std::string& arguments, const std::string& environment = "") {
  return testing::run_program(environment + " " INTERLACE_ENGINE_BINARY " " + arguments);
}

TEST(EngineProgram, JsonHoldsTheLossesWithAllTheirBits) {
  const Finished run =
      engine("run --workload tiny --schedule torchrec/staged --device cpu --seed 9 --steps 3 --format json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const nlohmann::json json = nlohmann::json::parse(run.out);
  Workload workload = workload_on("tiny", 2);
  workload.steps = 3;
  const Ending expected = end_of(schedule::find("torchrec/staged"), workload, std::nullopt);
  ASSERT_EQ(json.at("losses").size(), 3U);
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_EQ(json["losses"][step].get<double>(), static_cast<double>(expected.losses[step])) << step;
  }
  EXPECT_EQ(json.at("ranks").size(), 2U);
  EXPECT_GT(json["ranks"][0].at("peak_allocated_bytes").get<std::int64_t>(), 1000);
  EXPECT_GE(json["ranks"][0].at("peak_reserved_bytes"), json["ranks"][0].at("peak_allocated_bytes"));
}

TEST(EngineProgram, RunsAScheduleThatTheGuiSaved) {
  const std::string edited = INTERLACE_SOURCE_DIR "/samples/schedules/edited/in_the_window.json";
  const std::string rest = " --device cpu --seed 9 --steps 3 --format json";
  const Finished run = engine("run --workload tiny --schedule " + edited + rest);
  ASSERT_EQ(run.status, 0) << run.err;
  const Finished library = engine("run --workload tiny --schedule torchrec/sparse_dist" + rest);
  EXPECT_EQ(nlohmann::json::parse(run.out).at("losses"), nlohmann::json::parse(library.out).at("losses"));
}

TEST(EngineProgram, ForeseenSizesChangeNothingInASoundSchedule) {
  const std::string run = "run --workload tiny --schedule torchrec/staged --device cpu --seed 3 --format json";
  const Finished waiting = engine(run);
  const Finished foreseen = engine(run + " --foresee-sizes");
  ASSERT_EQ(foreseen.status, 0) << foreseen.err;
  const auto numbers = [](const Finished& finished) {
    const nlohmann::json json = nlohmann::json::parse(finished.out);
    return std::pair(json.at("losses"), json.at("tables"));
  };
  EXPECT_EQ(numbers(foreseen), numbers(waiting));
}

TEST(EngineProgram, StepsBehindTheTimedOnesTrainToo) {
  const std::string run = "run --workload tiny --schedule torchrec/sparse_dist --device cpu --format json ";
  const nlohmann::json plain = nlohmann::json::parse(engine(run + "--steps 6").out);
  const nlohmann::json timed = nlohmann::json::parse(engine(run + "--steps 3 --warmup 1 --cooldown 2").out);
  EXPECT_EQ(timed.at("losses"), plain.at("losses"));
  EXPECT_EQ(timed.at("timed_steps"), 3);
  EXPECT_GT(timed.at("seconds").get<double>(), 0.0);
}

TEST(EngineProgram, ReferenceStepsTrainTooAndComeBeforeTheTimedOnes) {
  const std::string run = "run --workload tiny --schedule torchrec/sparse_dist --device cpu --format json ";
  const nlohmann::json plain = nlohmann::json::parse(engine(run + "--steps 7").out);
  const nlohmann::json timed =
      nlohmann::json::parse(engine(run + "--steps 3 --warmup 1 --reference 2 --cooldown 1").out);
  EXPECT_EQ(timed.at("losses"), plain.at("losses"));
  EXPECT_EQ(timed.at("timed_steps"), 3);
  EXPECT_EQ(timed.at("warmup"), 3);
}

TEST(EngineProgram, LeavesOutTheDigestWhereNoneIsWanted) {
  const std::string run = "run --workload tiny --schedule torchrec/base --device cpu --format json --steps 2";
  const nlohmann::json with = nlohmann::json::parse(engine(run).out);
  const nlohmann::json without = nlohmann::json::parse(engine(run + " --no-digest").out);
  EXPECT_EQ(without.at("losses"), with.at("losses"));
  EXPECT_TRUE(with.at("tables").is_string());
  EXPECT_TRUE(without.at("tables").is_null());
}

TEST(EngineProgram, BatchAndSettingsAreToldAndObeyed) {
  const std::string run = "run --workload tiny --schedule torchrec/base --device cpu --format json --batch 3 --steps 1";
  const nlohmann::json json = nlohmann::json::parse(engine(run, "NCCL_MAX_NCHANNELS=2").out);
  EXPECT_EQ(json.at("batch"), 3);
  EXPECT_EQ(json.at("settings").at("NCCL_MAX_NCHANNELS"), "2");
  const nlohmann::json usual = nlohmann::json::parse(
      engine("run --workload tiny --schedule torchrec/base --device cpu --format json --steps 1").out);
  EXPECT_NE(json.at("losses"), usual.at("losses"));
  const Finished none = engine("run --workload tiny-a2a --schedule comms/a2a_sync --device cpu --batch 3");
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("error[engine.bad_workload]: --batch"), std::string::npos) << none.err;
}

TEST(EngineProgram, ACpuRunIsNotRecorded) {
  const Finished run = engine("run --workload tiny --schedule torchrec/base --device cpu --record nowhere");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("error[engine.cannot_record]"), std::string::npos) << run.err;
}

TEST(EngineProgram, ARecordingThatCannotBeginLeavesNoFolder) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path recording = folder.path() / "recording";
  const Finished run =
      engine("run --workload tiny --schedule torchrec/base --record " + recording.string(), "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(run.status, 1);
  EXPECT_FALSE(std::filesystem::exists(recording));
}

// Also while it finds the sizes out.
TEST(EngineProgram, ARunThatHangsIsEndedAfterItsLimit) {
  const testing::TemporaryFolder folder;
  const std::string heavy = (folder.path() / "heavy.json").string();
  std::ofstream(heavy) << R"({"interlace_workload": 1, "name": "heavy", "ranks": 1, "steps": 1,
    "message": {"elements": 4, "matrix": 3000, "multiplications": 100}})";
  const auto began = std::chrono::steady_clock::now();
  const Finished run =
      engine("run --device cpu --schedule comms/a2a_sync --foresee-sizes --stall-limit 1 --workload " + heavy);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err.rfind("error[engine.stalled]", 0), 0U) << run.err;
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(EngineProgram, TableShowsEveryStepAndRank) {
  const Finished run = engine("run --workload tiny --schedule torchrec/base --device cpu --ranks 1 --steps 2");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("torchrec/base on tiny, 1 ranks, cpu"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("     1  "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("rank 0  peak "), std::string::npos) << run.out;
}

TEST(EngineProgram, ProfileShowsTimedStepsAndChangesNoNumber) {
  const std::string run = "run --workload tiny --schedule torchrec/sparse_dist --device cpu --seed 4 --format json ";
  const nlohmann::json plain = nlohmann::json::parse(engine(run + "--steps 5").out);
  const nlohmann::json timed = nlohmann::json::parse(engine(run + "--steps 3 --warmup 2 --profile").out);
  EXPECT_EQ(timed.at("losses"), plain.at("losses"));  // warm-up steps train as all others
  EXPECT_EQ(timed.at("tables"), plain.at("tables"));
  EXPECT_EQ(timed.at("timed_steps"), 3);
  const nlohmann::json& rank = timed.at("ranks").at(1);
  EXPECT_EQ(rank.at("step_ms").size(), 5U);
  int backwards = 0;
  int updates = 0;
  for (const nlohmann::json& line : rank.at("profile")) {
    EXPECT_GE(line.at("host_ms_a_step").get<double>(), 0.0);
    if (line.at("name") == "backward") backwards += line.at("count").get<int>();
    if (line.at("name") == "update rows") updates += line.at("count").get<int>();
  }
  EXPECT_EQ(backwards, 3);
  EXPECT_EQ(updates, 6);  // one a module
  EXPECT_FALSE(plain.at("ranks").at(1).contains("profile"));
}

// Reads are told before the error: they show where.
TEST(EngineProgram, WrongDataIsAnErrorButInASpecimenOfARace) {
  const testing::TemporaryFolder folder;
  const auto run = [&](bool hazardous) {
    schedule::Schedule unsafe = schedule::find("comms/validate_unsafe");
    unsafe.hazardous = hazardous;
    const std::string file = (folder.path() / (hazardous ? "specimen.json" : "mine.json")).string();
    std::ofstream(file) << schedule::print(unsafe);
    return engine("run --workload tiny-a2a --device cpu --seed 1 --format json --schedule " + file);
  };
  for (const bool hazardous : {true, false}) {
    const Finished finished = run(hazardous);
    const nlohmann::json validations = nlohmann::json::parse(finished.out).at("validations");
    const auto wrong = std::ranges::count_if(validations, [](const auto& read) { return read.at("passed") == false; });
    EXPECT_GT(wrong, 0);
    EXPECT_EQ(finished.status, hazardous ? 0 : 1);
    const std::string error = "error[engine.wrong_data]: comms/validate_unsafe: " + std::to_string(wrong) + " reads";
    EXPECT_EQ(finished.err.find(error), hazardous ? std::string::npos : 0U) << finished.err;
  }
}

TEST(EngineProgram, BenchComparesSchedulesRunByRun) {
  const Finished bench = engine(
      "bench --workload tiny --schedules torchrec/base,torchrec/semi_sync --device cpu --ranks 1 --steps 2 --repeats 2 "
      "--format json");
  ASSERT_EQ(bench.status, 0) << bench.err;
  const nlohmann::json json = nlohmann::json::parse(bench.out);
  ASSERT_EQ(json.at("schedules").size(), 2U);
  for (const nlohmann::json& line : json.at("schedules")) {
    EXPECT_EQ(line.at("runtime_ms").size(), 2U);
    EXPECT_EQ(line.at("repeatable"), true);
  }
  // Each round begins with another schedule.
  const std::size_t second_round = bench.err.find("run 2 of 2: torchrec/semi_sync");
  ASSERT_NE(second_round, std::string::npos) << bench.err;
  EXPECT_LT(second_round, bench.err.find("run 2 of 2: torchrec/base"));
}

// MKL tells of its products there, as NCCL of its communicators.
TEST(EngineProgram, StandardOutputHoldsNoLinesOfLibraries) {
  const std::string rest = " --workload tiny --device cpu --ranks 1 --steps 1 --format json";
  const Finished run = engine("run --schedule torchrec/base" + rest, "MKL_VERBOSE=1");
  EXPECT_TRUE(nlohmann::json::accept(run.out)) << run.out;
  const Finished bench = engine("bench --schedules torchrec/base --repeats 1" + rest, "MKL_VERBOSE=1");
  EXPECT_EQ(bench.status, 0) << bench.err;
  EXPECT_TRUE(nlohmann::json::accept(bench.out)) << bench.out;
  if (run.err.find("MKL_VERBOSE") == std::string::npos) GTEST_SKIP() << "this torch has no MKL";
}

TEST(EngineProgram, ComparesSchedulesThoughWhoeverStartedItIgnoresEndsOfChildren) {
  const Finished bench =
      engine("bench --workload tiny --schedules torchrec/base --device cpu --ranks 1 --steps 1 --warmup 0 --repeats 1",
             "env --ignore-signal=CHLD");
  EXPECT_EQ(bench.status, 0) << bench.err;
}

TEST(EngineProgram, BenchTellsTheScheduleThatFailsAndTriesItOnce) {
  const Finished bench =
      engine("bench --workload tiny --schedules torchrec/base --device cuda --repeats 2", "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(bench.status, 1);
  EXPECT_EQ(bench.out, "");
  EXPECT_NE(bench.err.find("error[engine.no_gpu]"), std::string::npos) << bench.err;
  EXPECT_EQ(bench.err.find("run 2 of 2"), std::string::npos) << bench.err;
  EXPECT_NE(bench.err.find("error[engine.bench_failed]: torchrec/base: ended with status 1"), std::string::npos);
}

TEST(EngineProgram, WorkloadsCanBeListedShownAndRun) {
  const Finished list = engine("workloads");
  for (const WorkloadEntry& entry : workload_library()) {
    EXPECT_NE(list.out.find(std::string(entry.name)), std::string::npos) << entry.name;
  }
  const Finished shown = engine("workloads --show tiny");
  const testing::TemporaryFolder folder;
  const std::string file = (folder.path() / "mine.json").string();
  std::ofstream(file) << shown.out;
  EXPECT_EQ(engine("run --workload " + file + " --schedule torchrec/base --device cpu --steps 1").status, 0);
}

TEST(EngineProgram, RefusesBadInputWithOneLine) {
  const testing::TemporaryFolder folder;
  const std::string unknown_stage = (folder.path() / "stage.json").string();
  std::ofstream(unknown_stage) << R"({"interlace_schedule": 1, "name": "x", "streams": {"main": {}}, "iteration": [
    {"stage": "computte", "batch": 0, "stream": "main"}]})";
  const std::string cyclic = (folder.path() / "cyclic.json").string();
  std::ofstream(cyclic) << R"({"interlace_schedule": 1, "name": "x", "streams": {"main": {}, "side": {}}, "iteration": [
    {"wait": "b", "on": "main"},
    {"stage": "compute", "batch": 0, "stream": "main", "record": "a"},
    {"wait": "a", "on": "side"},
    {"stage": "all_to_all", "batch": 0, "stream": "side", "record": "b"}]})";
  std::filesystem::create_directory(folder.path() / "torchrec.base");
  std::ofstream(folder.path() / "torchrec.base" / "rank0.ilt") << "a recording";
  const std::string run = "run --device cpu --workload tiny ";
  const struct {
    std::string arguments;
    std::string environment;
    std::string error;
  } cases[] = {
      {run + "--schedule " + unknown_stage, "", "error[schedule.unknown_stage]"},
      {run + "--schedule " + cyclic, "", "error[schedule.event_too_early]"},
      {run + "--schedule torchrec/bass", "", "error[schedule.no_such_schedule]"},
      {"run --device cpu --workload tinny --schedule torchrec/base", "", "error[engine.unknown_workload]"},
      {run + "--schedule recsys/dp_only", "", "error[engine.workload_mismatch]"},
      {run + "--schedule torchrec/base", "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0", "error[engine.world_size]"},
      {"run --workload tiny --schedule torchrec/base --ranks 3", "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0",
       "error[engine.world_size]"},
      {"run --workload tiny --schedule torchrec/base", "CUDA_VISIBLE_DEVICES=", "error[engine.no_gpu]"},
      {"run --workload tiny --schedule torchrec/base --seed 5", "", "error[engine.cpu_only]: --seed"},
      {"run --workload tiny --schedule torchrec/base --foresee-sizes", "", "error[engine.cpu_only]: --foresee-sizes"},
      {"run --device cpu --workload tiny-a2a --schedule comms/a2a_sync --ranks 4096", "", "error[engine.bad_workload]"},
      {"bench --device cpu --workload tiny --schedules torchrec/base --record nowhere", "",
       "error[engine.cannot_record]"},
      {"bench --workload tiny --schedules torchrec/base --record " + folder.path().string(),
       "CUDA_VISIBLE_DEVICES=", "error[engine.cannot_record]"},
      {"workloads --show " + unknown_stage, "", "error[engine.unknown_workload]"},
  };
  for (const auto& bad : cases) {
    const Finished finished = engine(bad.arguments, bad.environment);
    EXPECT_EQ(finished.status, 1) << bad.arguments;
    EXPECT_EQ(finished.out, "") << bad.arguments;
    EXPECT_EQ(finished.err.rfind(bad.error, 0), 0U) << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
  EXPECT_EQ(engine("run --workload tiny").status, 2);
  EXPECT_EQ(engine(run + "--schedule torchrec/base --warmup 9223372036854775807").status, 2);
  EXPECT_EQ(engine(run + "--schedule torchrec/base --ranks 0").status, 2);
}

}  // namespace
}  // namespace interlace::engine
