#include "simulator/campaign/campaign_files.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "simulator/campaign/sha256.hpp"
#include "tests/support/temporary_folder.hpp"

namespace interlace::campaign {
namespace {

Plan plan() {
  Plan made;
  made.workload = "t6";
  made.recorded = "torchrec/sparse_dist";
  made.schedules = {"all"};
  made.ranks = 2;
  made.references = 5;
  made.recordings = 2;
  made.environment = {{"NCCL_P2P_DISABLE", "1"}};
  made.settings = made.environment;
  made.hardware = {"NVIDIA H200, 580.159.04"};
  made.interlace = "1.0";
  made.created = "2026-11-22T00:00:00Z";
  return made;
}

PredictionFile full_prediction() {
  PredictionFile made;
  made.recorded = "torchrec/sparse_dist";
  PredictedSchedule one;
  one.schedule = "torchrec/base";
  one.step_ms = 0.1 + 0.2;  // no short decimal fraction: comes back bit by bit
  one.no_contention_ms = 1.0 / 3;
  one.overlap = {std::nullopt, 0.7};
  one.ranks = {0, 3};
  one.allocated_peak = {1, 2};
  made.schedules = {one};
  made.left_out = {{"torchrec/staged", "not recorded"}};
  return made;
}

template <class Do>
std::string code_of(Do what) {
  try {
    what();
  } catch (const Error& error) {
    return std::string(error.code());
  }
  return {};
}

TEST(CampaignFolder, GivesBackWhatWasWritten) {
  const testing::TemporaryFolder place;
  const Folder folder(place.path() / "campaign");
  folder.create(plan(), {});
  EXPECT_EQ(folder.read_plan(), plan());
  EXPECT_FALSE(folder.read_prediction());

  MeasuredRun run;
  run.schedule = "torchrec/base";
  run.repeat = 1;
  run.position = 2;
  run.step_ms = 1.0 / 7;
  run.single_steps_ms = {0.1, 0.2};
  run.allocated_peak = {5};
  run.reserved_peak = {6};
  MeasuredRun failed;
  failed.schedule = "torchrec/semi_sync";
  failed.failure = "engine.out_of_memory";
  folder.write_reference(failed);
  EXPECT_EQ(folder.read_references(), std::vector<MeasuredRun>{failed});
  folder.write_prediction(full_prediction());
  EXPECT_EQ(folder.read_prediction()->schedules, full_prediction().schedules);
  EXPECT_EQ(folder.read_prediction()->left_out, full_prediction().left_out);
  folder.write_run(run);
  folder.write_run(failed);
  EXPECT_EQ(folder.read_runs(), (std::vector<MeasuredRun>{run, failed}));

  const MeasuredTrace trace{"torchrec/base", 0, 3.5, {0.25, 1.5}, {0.2, 0.3}, std::nullopt};
  MeasuredTrace second = trace;
  second.repeat = 1;
  second.overlap.hidden_ratio = 0.5;
  folder.write_trace(trace);
  folder.write_trace(second);
  EXPECT_EQ(folder.read_traces(), (std::vector<MeasuredTrace>{trace, second}));

  EXPECT_EQ(folder.recordings_made(), 0);
  folder.finish_recording(0, "{}");
  folder.finish_recording(1, "{}");
  EXPECT_EQ(folder.recordings_made(), 2);
  std::filesystem::remove(place.path() / "campaign" / "recording.json");  // so that it is made again
  EXPECT_EQ(folder.recordings_made(), 0);
}

TEST(CampaignFolder, KeepsTheDigestOfThePrediction) {
  const testing::TemporaryFolder place;
  const Folder folder(place.path());
  folder.create(plan(), {});
  folder.write_prediction(full_prediction());
  std::ifstream in(place.path() / "prediction.json", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(folder.prediction_digest(), sha256(text));
  text.replace(text.find("0.7"), 3, "0.8");
  place.write("prediction.json", text);
  EXPECT_EQ(code_of([&] { static_cast<void>(folder.read_prediction()); }), kPredictionChanged.name);
}

// Whatever it hangs on stays as it was, and it is never made behind the measurements.
TEST(CampaignFolder, HoldsThePredictionToWhatItWasMadeFrom) {
  const auto read_after = [](auto change) {
    const testing::TemporaryFolder place;
    const Folder folder(place.path());
    folder.create(plan(), {{"inputs/schedules/mine.json", "{}"}});
    MeasuredRun run;
    run.schedule = "torchrec/sparse_dist";
    folder.write_reference(run);
    folder.write_prediction(full_prediction());
    folder.write_run(run);
    change(place, folder);
    return code_of([&] { static_cast<void>(folder.read_prediction()); });
  };
  using Place = testing::TemporaryFolder;
  EXPECT_EQ(read_after([](const Place&, const Folder&) {}), "");
  const auto overwritten = [&](const char* name) {
    return read_after([&](const Place& place, const Folder&) { place.write(name, "{} "); });
  };
  for (const char* name : {"plan.json", "inputs/schedules/mine.json", "references/000.json", "references/001.json"}) {
    EXPECT_EQ(overwritten(name), kPredictionChanged.name) << name;
  }
  const auto removed = [&](const char* name) {
    return read_after([&](const Place& place, const Folder&) { std::filesystem::remove(place.path() / name); });
  };
  for (const char* name : {"inputs/schedules/mine.json", "prediction.json", "prediction.sha256"}) {
    EXPECT_EQ(removed(name), kPredictionChanged.name) << name;
  }
}

TEST(CampaignFolder, HoldsThePredictionToItsRecordings) {
  using Place = testing::TemporaryFolder;
  const auto read_after = [](bool elsewhere, auto change) {
    const Place place;
    const Place other;
    const Folder folder(place.path());
    Plan planned = plan();
    planned.recordings = 1;
    if (elsewhere) planned.recording = other.path().string();
    folder.create(planned, {});
    std::filesystem::create_directories(folder.recording(0));
    const std::filesystem::path recording = elsewhere ? other.path() : folder.recording(0);
    for (const char* rank : {"rank0.ilt", "rank1.ilt"}) std::ofstream(recording / rank) << "ILT";
    folder.write_prediction(full_prediction());
    change(recording);
    return code_of([&] { static_cast<void>(folder.read_prediction()); });
  };
  for (const bool elsewhere : {false, true}) {
    EXPECT_EQ(read_after(elsewhere, [](const auto&) {}), "");
    EXPECT_EQ(read_after(elsewhere, [](const auto& place) { std::ofstream(place / "rank1.ilt") << "another"; }),
              kPredictionChanged.name);
    EXPECT_EQ(read_after(elsewhere, [](const auto& place) { std::filesystem::remove(place / "rank1.ilt"); }),
              kPredictionChanged.name);
    EXPECT_EQ(read_after(elsewhere, [](const auto& place) { std::ofstream(place / "rank2.ilt") << "ILT"; }),
              kPredictionChanged.name);
    EXPECT_EQ(read_after(elsewhere, [](const auto& place) { std::filesystem::remove_all(place); }), "") << "put away";
  }
}

TEST(CampaignFolder, MakesNoPredictionBehindMeasuredTraces) {
  const testing::TemporaryFolder place;
  const Folder folder(place.path());
  folder.create(plan(), {});
  folder.write_trace({"torchrec/base", 0, 3.5, {0.25, 1.5}, {}, std::nullopt});
  EXPECT_EQ(code_of([&] { static_cast<void>(folder.read_prediction()); }), kPredictionChanged.name);
}

TEST(CampaignFolder, NumbersRunsBehindThoseThatAreThere) {
  const testing::TemporaryFolder place;
  const Folder folder(place.path());
  folder.create(plan(), {});
  for (const char* schedule : {"a", "b", "c"}) {
    MeasuredRun run;
    run.schedule = schedule;
    folder.write_run(run);
  }
  std::filesystem::remove(place.path() / "runs" / "000.json");
  MeasuredRun again;
  again.schedule = "a";
  folder.write_run(again);
  std::vector<std::string> schedules;
  for (const MeasuredRun& run : folder.read_runs()) schedules.push_back(run.schedule);
  EXPECT_EQ(schedules, (std::vector<std::string>{"b", "c", "a"}));
  EXPECT_EQ(folder.next_run(), 4);
}

TEST(CampaignFolder, IsWorkedOnByOneAtATime) {
  const testing::TemporaryFolder place;
  const Folder folder(place.path());
  {
    const Lock lock(folder);
    EXPECT_EQ(code_of([&] { const Lock second(folder); }), kInUse.name);
  }
  EXPECT_EQ(code_of([&] { const Lock next(folder); }), "");
}

TEST(CampaignFolder, RefusesWhatIsNoCampaignOrOneAlready) {
  const testing::TemporaryFolder place;
  const Folder folder(place.path());
  EXPECT_EQ(code_of([&] { static_cast<void>(folder.read_plan()); }), kBadFolder.name);
  folder.create(plan(), {});
  EXPECT_EQ(code_of([&] { folder.create(plan(), {}); }), kBadFolder.name);
  place.write("runs/000.json", "{\"schedule\": 3}");
  EXPECT_EQ(code_of([&] { static_cast<void>(folder.read_runs()); }), kBadFile.name);
  place.write("plan.json", "{");
  EXPECT_EQ(code_of([&] { static_cast<void>(folder.read_plan()); }), kBadFile.name);
}

// As `interlace-engine run --format json` writes it.
TEST(EngineRun, TakesTheTimedSteps) {
  const MeasuredRun run = read_engine_run(R"({"schedule": "torchrec/base", "seconds": 0.5, "timed_steps": 4,
    "warmup": 1, "ranks": [
      {"peak_allocated_bytes": 10, "peak_reserved_bytes": 20, "step_ms": [900, 1, 2, 3, 4, 700]},
      {"peak_allocated_bytes": 11, "peak_reserved_bytes": 21, "step_ms": [900, 5, 6, 7, 8, 700]}]})",
                                          "run");
  EXPECT_EQ(run.schedule, "torchrec/base");
  EXPECT_DOUBLE_EQ(run.step_ms, 125);
  EXPECT_EQ(run.allocated_peak, (std::vector<Bytes>{10, 11}));
  EXPECT_EQ(run.reserved_peak, (std::vector<Bytes>{20, 21}));
  EXPECT_EQ(run.single_steps_ms, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(code_of([] { static_cast<void>(read_engine_run("{}", "run")); }), kBadFile.name);
  EXPECT_EQ(code_of([] { static_cast<void>(read_engine_run("no JSON", "run")); }), kBadFile.name);
}

}  // namespace
}  // namespace interlace::campaign
