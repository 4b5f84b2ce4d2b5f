// What is made of the shipped recordings.
#include "gui/session/recorded.hpp"

#include <gtest/gtest.h>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gui/compare/facts.hpp"
#include "gui/session/forecast.hpp"
#include "gui/session/recorded_steps.hpp"
#include "gui/session/sample.hpp"
#include "gui/session/write_report.hpp"
#include "gui/timeline/dependencies.hpp"
#include "simulator/graph/graph.hpp"
#include "simulator/report/text.hpp"
#include "simulator/schedule/library.hpp"
#include "tests/support/kineto_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/gui/small_trace.hpp"

namespace interlace::gui {
namespace {

const std::filesystem::path kTraces = std::filesystem::path(INTERLACE_SOURCE_DIR) / "samples/traces";

const std::vector<std::string> kAll{"all"};

RecordedPtr open_base() {
  return open_recording({kTraces / "torchrec_c6/base.r0.json.gz", kTraces / "torchrec_c6/base.r1.json.gz"}, {});
}

TEST(OpenRecording, KnowsScheduleStepsAndStages) {
  const RecordedPtr recorded = open_base();
  EXPECT_EQ(recorded->facts.schedule, std::optional<std::string>("torchrec/base"));
  const gui::Run& run = *recorded->run;
  ASSERT_EQ(run.steps().size(), 2U);
  ASSERT_EQ(run.first_steps().size(), 2U);
  EXPECT_EQ(run.first_steps()[0].end, run.first_steps()[1].begin);
  // Nearly all device work belongs to a stage of the schedule language: that is what prediction moves about.
  std::size_t device_work = 0;
  std::size_t staged = 0;
  const Interval steps{run.first_steps().front().begin, run.first_steps().back().end};
  for (std::uint32_t i = 0; i < run.trace().size(); ++i) {
    if (!trace::is_device_work(run.trace().kind({i})) || !steps.contains(run.trace().start({i}))) continue;
    ++device_work;
    const auto stage = schedule::stage_named(run.scene().tags().stages()[run.scene().tags().stage_of({i})]);
    if (stage) ++staged;
  }
  EXPECT_GT(device_work, 500U);
  EXPECT_GT(static_cast<double>(staged), 0.98 * static_cast<double>(device_work));
}

TEST(OpenRecording, WithoutKnownAnnotationsCanBeLookedAt) {
  const RecordedPtr recorded = open_recording({kTraces / "hta/simple_add"}, {});
  EXPECT_FALSE(recorded->cut);
  EXPECT_FALSE(recorded->no_predictions.empty());
  EXPECT_GT(recorded->run->scene().lanes().rows.size(), 0U);
  Forecaster forecaster(recorded);
  try {
    (void)forecaster.predict(schedule::find("torchrec/base"), {});
    FAIL() << "predicted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCannotPredict.name);
    EXPECT_NE(error.problem().find(recorded->no_predictions), std::string::npos);
  }
}

TEST(OpenRecording, StepsOfUnknownLoopsAreAsLongAsTheDeviceNeeds) {
  // The host marks a step each 10 ns; of each the device begins with a copy 20 ns after the one before, and ends 80
  // after.
  SmallTrace small;
  const auto thread = small.thread(1);
  for (std::int64_t step = 0; step < 4; ++step) {
    small.annotation(thread, "ProfilerStep#" + std::to_string(step), 10 * step, 10 * step + 10);
    small.call(thread, "copy", 10 * step + 1, 10 * step + 2, 2 * step);
    small.call(thread, "launch", 10 * step + 3, 10 * step + 4, 2 * step + 1);
    small.kernel(small.stream(8), "copy", 50 + 20 * step, 60 + 20 * step, 2 * step);
    small.kernel(small.stream(7), "work", 100 + 80 * step, 180 + 80 * step, 2 * step + 1);
  }
  const trace::Trace trace = small.build();
  const auto steps = steps_of_recording(trace, nullptr);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0], (std::vector<Interval>{{180, 260}, {260, 340}, {340, 420}}));
}

TEST(OpenRecording, OfAMemorySnapshotAloneNothingIsPredicted) {
  const RecordedPtr recorded = open_recording({kTraces / "torchrec_c6/sparse.mem.r0.snap.pickle"}, {});
  EXPECT_FALSE(recorded->predictor);
  EXPECT_NE(recorded->no_predictions.find("no work of a device"), std::string::npos) << recorded->no_predictions;
}

TEST(OpenRecording, TellsWhatOfDependenciesIsNotRecorded) {
  const RecordedPtr recorded = open_base();
  Diagnostics of_graph;
  const graph::Graph graph(recorded->run->trace(), of_graph);
  ASSERT_FALSE(of_graph.empty());
  for (const Diagnostic& found : of_graph.entries()) {
    EXPECT_EQ(recorded->diagnostics.count_of(found.code), found.count) << found.code;
  }
  for (const Diagnostic& known : recorded->facts.diagnostics) {
    EXPECT_GE(recorded->diagnostics.count_of(known.code), known.count) << "all of them are shown: " << known.code;
  }
}

/// A rank that takes part in one all-reduce of this group, `at` us after the others' clocks say.
std::string rank_with_collective(int rank, int at, const std::string& group, int size) {
  testing::KinetoText text;
  text.rank(rank, 3)
      .call("cudaLaunchKernel", std::to_string(at + 1'000), "5", 1)
      .call("cudaEventQuery", "9000", "5", 2);
  return text
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, std::to_string(at + 1'010), "100", 1,
              R"("Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float", )"
              R"("Process Group Name": ")" +
                  group + R"(", "Group size": )" + std::to_string(size))
      .text();
}

TEST(OpenRecording, TellsOfRanksWhoseClocksDiffer) {
  const testing::TemporaryFolder folder;
  for (const int error : {0, 300}) {
    const RecordedPtr recorded = open_recording({folder.write("r0.json", rank_with_collective(0, 0, "0", 2)),
                                                 folder.write("r1.json", rank_with_collective(1, error, "0", 2))},
                                                {});
    const std::int64_t differ = error == 0 ? 0 : 1;
    EXPECT_EQ(recorded->diagnostics.count_of("trace.clocks_differ"), differ);
    EXPECT_EQ(std::ranges::count(recorded->facts.diagnostics, "trace.clocks_differ", &Diagnostic::code), differ);
  }
}

// Three ranks that run together are too many for groups of two.
TEST(OpenRecording, CountsAmbiguousGroupsOnce) {
  const testing::TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (int rank = 0; rank < 3; ++rank) {
    files.push_back(folder.write("r" + std::to_string(rank) + ".json", rank_with_collective(rank, 0, "mesh_dp", 2)));
  }
  EXPECT_EQ(open_recording(files, {})->diagnostics.count_of("graph.ambiguous_group"), 3);
}

TEST(SampleRecording, IsFoundFromBelowAndNowhereElse) {
  const std::filesystem::path source(INTERLACE_SOURCE_DIR);
  EXPECT_EQ(sample_recording(source / "build/some/where"), sample_recording(source));
  EXPECT_EQ(sample_recording(source).size(), 2U);
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(sample_recording(folder.path()).empty());
}

TEST(OpenRecording, CanBeGivenUp) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)open_recording({kTraces / "hta/simple_add"}, {{}, stop.get_token()}), Cancelled);
}

/// How many arrows of each kind the operations of a run have.
std::map<DependencyKind, std::size_t> arrows_of(const gui::Run& run) {
  std::map<DependencyKind, std::size_t> counts;
  for (std::uint32_t i = 0; i < run.trace().size(); ++i) {
    for (const Dependency& arrow : dependencies_of(*run.dependencies(), {i})) ++counts[arrow.kind];
  }
  return counts;
}

TEST(Forecaster, PredictedWorkHasArrowsOfAllKindsThatMatter) {
  const RecordedPtr recorded = open_base();
  Forecaster forecaster(recorded);
  const ForecastPtr forecast = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
  for (const RunPtr& run : {recorded->run, forecast->run}) {
    const auto arrows = arrows_of(*run);
    for (const DependencyKind kind : {DependencyKind::kLaunch, DependencyKind::kEvent, DependencyKind::kHostWait,
                                      DependencyKind::kCollectivePeer}) {
      EXPECT_TRUE(arrows.contains(kind)) << run->title() << ": " << to_string(kind);
    }
  }
}

TEST(Forecaster, PredictsMemoryWhereItWasRecorded) {
  const auto folder = kTraces / "torchrec_c6";
  const RecordedPtr recorded = open_recording({folder / "base.mem.r0.json.gz", folder / "base.mem.r1.json.gz",
                                               folder / "base.mem.r0.snap.pickle", folder / "base.mem.r1.snap.pickle"},
                                              {});
  Forecaster forecaster(recorded);
  const ForecastPtr forecast = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
  ASSERT_EQ(forecast->row.memory.size(), 2U);
  for (const report::RankMemory& rank : forecast->row.memory) {
    EXPECT_GT(rank.allocated_peak, rank.persistent);
    EXPECT_GE(rank.reserved_peak, rank.allocated_peak);
  }
}

/// The shipped snapshot of rank 0 with other settings: as long as the reference to the empty text that it has.
std::filesystem::path snapshot_with_settings(const testing::TemporaryFolder& folder, const std::string& settings) {
  std::ifstream in(kTraces / "torchrec_c6/base.mem.r0.snap.pickle", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::string key = "PYTORCH_CUDA_ALLOC_CONF\x94";
  const std::string text{'\x8c', static_cast<char>(settings.size())};  // SHORT_BINUNICODE
  const std::size_t value = bytes.find(key) + key.size();
  EXPECT_EQ(bytes.at(value), 'j') << "LONG_BINGET and four bytes";
  bytes.replace(value, 5, text + settings);
  return folder.write("rank0.snap.pickle", bytes);
}

// Settings come from the recorded PyTorch, which may have more of them than this program knows, or take other values.
TEST(OpenRecording, SettingsOfTheAllocatorKeepNoneFromBeingOpened) {
  const testing::TemporaryFolder folder;
  const auto opened = [&](const std::string& settings) {
    return open_recording({kTraces / "torchrec_c6/base.mem.r0.json.gz", kTraces / "torchrec_c6/base.mem.r1.json.gz",
                           snapshot_with_settings(folder, settings), kTraces / "torchrec_c6/base.mem.r1.snap.pickle"},
                          {});
  };
  const RecordedPtr newer = opened("x:1");
  EXPECT_TRUE(newer->predictor);
  EXPECT_EQ(newer->diagnostics.count_of("allocator.option_not_modelled"), 1);
  const RecordedPtr broken = opened(",,,");
  EXPECT_FALSE(broken->predictor);
  EXPECT_NE(broken->no_predictions, "");
  EXPECT_EQ(broken->facts.schedule, std::optional<std::string>("torchrec/base"));
}

// What the command line predicts, from TorchRec's recording and from one that tells its steps without the recorder.
TEST(Forecaster, PredictsWhatTheCommandLinePredicts) {
  for (const auto& [folder, sources] :
       {std::pair{"torchrec_c6", std::vector{"base.r0.json.gz", "base.r1.json.gz"}},
        std::pair{"engine_exposed", std::vector{"sparse_dist/rank0.ilt", "sparse_dist/rank1.ilt"}}}) {
    std::vector<std::filesystem::path> files;
    QStringList command{"predict", "--format", "json", "--schedule", "torchrec/semi_sync"};
    for (const char* source : sources) {
      files.push_back(kTraces / folder / source);
      command << "--from" << QString::fromStdString(files.back().string());
    }
    QProcess program;
    program.start(INTERLACE_BINARY, command);
    ASSERT_TRUE(program.waitForFinished(120'000) && program.exitCode() == 0)
        << program.readAllStandardError().toStdString();
    const QJsonObject told = QJsonDocument::fromJson(program.readAllStandardOutput()).object();
    const QJsonObject row = told["predictions"].toArray()[0].toObject();

    const RecordedPtr recorded = open_recording(files, {});
    Forecaster forecaster(recorded);
    const schedule::Schedule semi_sync = schedule::find("torchrec/semi_sync");
    const ForecastPtr forecast = forecaster.predict(semi_sync, {});
    EXPECT_EQ(static_cast<double>(forecast->row.step_time_ns), row["step_time_ns"].toDouble()) << folder;
    EXPECT_EQ(static_cast<double>(forecast->row.step_time_low_ns), row["step_time_low_ns"].toDouble());
    EXPECT_DOUBLE_EQ(forecast->row.speedup.value(), row["speedup"].toDouble());
    EXPECT_EQ(forecast->row.reasons.size() + forecast->row.races.size(),
              static_cast<std::size_t>(row["reasons"].toArray().size()));
    EXPECT_EQ(static_cast<double>(forecaster.replayed_step().value()),
              told["recorded"]["predicted_step_time_ns"].toDouble());
    EXPECT_EQ(forecast->replay_error.value_or(0), told["recorded"]["replay_error"].toDouble(0));
    EXPECT_DOUBLE_EQ(forecast->replayed_hidden_ratio.value(), told["recorded"]["replayed_hidden_ratio"].toDouble());
    EXPECT_DOUBLE_EQ(forecast->row.overlap.communication_hidden_ratio().value(),
                     row["overlap"].toObject()["communication_hidden_ratio"].toDouble());
    EXPECT_FALSE(forecast->row.reasons.empty());

    // The timeline is as replayed.
    const replay::Prediction replayed = recorded->predictor->predict(semi_sync, {});
    EXPECT_EQ(forecast->run->steps(), replayed.steps);
    ASSERT_EQ(forecast->run->trace().size(), replayed.trace.size());
    EXPECT_TRUE(std::ranges::equal(forecast->run->trace().starts(), replayed.trace.starts()));
  }
}

TEST(Forecaster, PredictsManyAsOneByOneAndAnswersInTurn) {
  const RecordedPtr recorded = open_base();
  const std::vector<schedule::AskedSchedule> asked = schedule::asked_schedules(kAll);
  std::vector<std::future<Answer>> answers;
  Forecaster(recorded).predict(asked, {}, [&](std::size_t place, std::future<Answer> answer) {
    EXPECT_EQ(place, answers.size());
    answers.push_back(std::move(answer));
  });
  ASSERT_EQ(answers.size(), asked.size());
  Forecaster forecaster(recorded);
  std::size_t predicted = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Answer answer = answers[i].get();
    const auto* forecast = std::get_if<ForecastPtr>(&answer);
    if (forecast == nullptr) continue;
    ++predicted;
    const ForecastPtr alone = forecaster.predict(asked[i].schedule, {});
    EXPECT_EQ((*forecast)->schedule.name, asked[i].schedule.name);
    EXPECT_EQ((*forecast)->row.step_time_ns, alone->row.step_time_ns) << asked[i].schedule.name;
    EXPECT_EQ((*forecast)->row.reasons, alone->row.reasons);
    EXPECT_TRUE(std::ranges::equal((*forecast)->run->trace().starts(), alone->run->trace().starts()));
  }
  EXPECT_GT(predicted, 5U);
}

// What is asked for by name is an error where it does not apply, and keeps nobody else from an answer.
TEST(Forecaster, AnswersEachOfManyForItself) {
  const std::vector<std::string> names{"recsys/dp_mp_serial", "torchrec/staged"};
  std::vector<std::future<Answer>> answers;
  Forecaster(open_base()).predict(schedule::asked_schedules(names), {}, [&](std::size_t, std::future<Answer> answer) {
    answers.push_back(std::move(answer));
  });
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_THROW((void)answers[0].get(), Error);
  EXPECT_EQ(std::get<ForecastPtr>(answers[1].get())->schedule.name, "torchrec/staged");
}

TEST(Forecaster, ManyCanBeGivenUpInTheMidst) {
  const RecordedPtr recorded = open_base();
  std::stop_source stop;
  std::size_t answered = 0;
  Forecaster forecaster(recorded);
  EXPECT_THROW(forecaster.predict(schedule::asked_schedules(kAll), {{}, stop.get_token()},
                                  [&](std::size_t, std::future<Answer>) {
                                    ++answered;
                                    stop.request_stop();
                                  }),
               Cancelled);
  EXPECT_LE(answered, 5U) << "but what was being predicted";
  // Nothing of it is left in what follows.
  EXPECT_GT(forecaster.predict(schedule::find("torchrec/staged"), {})->row.step_time_ns, 0);
}

// All of it: recorded memory, what the recording tells of the machine, flaws, and what was left out.
TEST(WriteReport, IsWhatTheCommandLineWrites) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = kTraces / "torchrec_w1_1_rank/sparse.mem.r0.ilt";
  const auto content = [&](const char* name) {
    std::ifstream in(folder.path() / name, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  };
  QProcess program;
  program.start(INTERLACE_BINARY, {"predict", "--schedule", "all", "--from", QString::fromStdString(file.string()),
                                   "--out", QString::fromStdString(folder.path().string())});
  ASSERT_TRUE(program.waitForFinished(120'000) && program.exitCode() == 0)
      << program.readAllStandardError().toStdString();

  const RecordedPtr recorded = open_recording({file}, {});
  std::vector<ForecastPtr> forecasts;
  std::vector<report::SkippedSchedule> left_out;
  const std::vector<schedule::AskedSchedule> asked = schedule::asked_schedules(kAll);
  Forecaster(recorded).predict(asked, {}, [&](std::size_t place, std::future<Answer> coming) {
    const Answer answer = coming.get();
    if (const auto* forecast = std::get_if<ForecastPtr>(&answer)) {
      forecasts.push_back(*forecast);
    } else {
      left_out.push_back({asked[place].schedule.name, std::get<std::string>(answer)});
    }
  });
  ASSERT_FALSE(recorded->facts.memory.empty() || recorded->facts.machine_fitted.empty() || left_out.empty());
  for (const auto& [ours, theirs] : {std::pair{"gui.json", "report.json"}, std::pair{"gui.csv", "report.csv"},
                                     std::pair{"gui.html", "report.html"}}) {
    write_report(*recorded, forecasts, left_out, folder.path() / ours);
    ASSERT_FALSE(content(theirs).empty()) << theirs;
    EXPECT_EQ(content(ours), content(theirs));
  }
}

TEST(Forecaster, SaysThatTheReplayIsFarFromWhatWasMeasured) {
  const RecordedPtr sound = open_base();
  const auto told = std::make_shared<Recorded>(*sound);  // that a step took half of what it takes
  replay::SiteTable sites = sound->predictor->sites();
  sites.unrecorded_step_ns = static_cast<double>(*sound->facts.step_time_ns) / 2;
  told->predictor.emplace(told->run->trace(), *told->cut, std::move(sites));
  for (const RecordedPtr& recorded : {sound, RecordedPtr(told)}) {
    Forecaster forecaster(recorded);
    const ForecastPtr forecast = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
    const auto& found = report_of(*recorded, std::vector{forecast}, {}).recorded.diagnostics;
    EXPECT_EQ(std::ranges::count(found, replay::kFarFromMeasured.code, &Diagnostic::code), recorded == sound ? 0 : 1);
  }
}

TEST(Forecaster, PredictsTheRecordedScheduleAsTheStepThatOthersAreComparedWith) {
  const auto folder = kTraces / "engine_exposed/sparse_dist";
  Forecaster forecaster(open_recording({folder / "rank0.ilt", folder / "rank1.ilt"}, {}));
  const ForecastPtr itself = forecaster.predict(schedule::find("torchrec/sparse_dist"), {});
  EXPECT_EQ(itself->row.step_time_ns, forecaster.replayed_step().value());
  EXPECT_DOUBLE_EQ(itself->row.speedup.value(), 1.0);
  const std::string base = "1.000x over " + report::milliseconds(itself->row.step_time_ns) + " ms replayed";
  EXPECT_NE(facts_of(*itself).find(base), std::string::npos) << facts_of(*itself);
}

}  // namespace
}  // namespace interlace::gui
