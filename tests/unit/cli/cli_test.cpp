#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/report/text.hpp"
#include "simulator/trace/append_trace.hpp"
#include "simulator/trace/ilt/writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/cli/run_interlace.hpp"

namespace interlace::cli {
namespace {

using Json = nlohmann::ordered_json;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class CliTest : public ::testing::Test {
 protected:
  CliTest() { std::filesystem::create_directories(folder); }
  ~CliTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("interlace_cli_test." + std::to_string(static_cast<long>(getpid())));

  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  static std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(CliTest, TellsUsageErrorsFromOthers) {
  EXPECT_EQ(interlace("").status, 2);
  EXPECT_EQ(interlace("frobnicate").status, 2);
  EXPECT_EQ(interlace("info").status, 2);
  EXPECT_EQ(interlace("info x --format yaml").status, 2);
  EXPECT_EQ(interlace("predict --schedule all").status, 2);
  EXPECT_EQ(interlace("predict --from x").status, 2);
  EXPECT_EQ(interlace("predict --from x --schedule all --measured-step-ms -1").status, 2);
  EXPECT_EQ(interlace("--help").status, 0);
  EXPECT_EQ(interlace("predict --help").status, 0);
  const Finished version = interlace("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_TRUE(version.out.starts_with("interlace ")) << version.out;
}

TEST_F(CliTest, ErrorsAreOneLineWithACode) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"info /no/such/file", "error[ingest.cannot_open]: /no/such/file"},
      {"predict --from /no/such/file --schedule torchrec/base", "error[ingest.cannot_open]"},
      {"predict --from x --schedule no/such", "error[schedule.no_such_schedule]"},
      {"predict --schedule all --memory-snapshot /no/snapshot --from " + sample("sparse"),
       "error[ingest.cannot_open]: /no/snapshot"},
      {"info " + sample("sparse.mem") + " --memory-snapshot " + snapshot("sparse", 0),
       "error[ingest.snapshot_count]: 1 memory snapshots for 2 ranks"},
      {"info " + snapshot("sparse", 0) + " --memory-snapshot " + sample("sparse"),
       "error[memory_snapshot.not_a_snapshot]: "},
      {"convert -o x.ilt " + sample("sparse") + " --memory-snapshot " + snapshot("sparse", 0) + " " +
           snapshot("sparse", 1),
       "error[ingest.snapshot_of_other_run]: " + snapshot("sparse", 0)},
      {"predict --from x --schedule all --edit /no/edits.json", "error[what_if.bad_edit]: /no/edits.json"},
      {"predict --schedule torchrec/base --profile /no/profile.json --from " + sample("sparse"),
       "error[stages.bad_profile]: /no/profile.json"},
      {"predict --from x --schedule all --edit /tmp", "error[what_if.bad_edit]: /tmp: is a folder"},
      {"predict --schedule torchrec/base --profile /tmp --from " + sample("sparse"),
       "error[stages.bad_profile]: /tmp: is a folder"},
      {"predict --schedule torchrec/base --machine /tmp --from " + sample("sparse"),
       "error[contention.bad_machine_profile]: /tmp: is a folder"},
      {"predict --schedule torchrec/base --edit " INTERLACE_SOURCE_DIR "/samples/edits/prefetch.json --from " +
           sample("sparse"),
       "error[what_if.no_match]: " INTERLACE_SOURCE_DIR "/samples/edits/prefetch.json"},
      {"predict --schedule torchrec/base --steps 1000000 --from " + sample("sparse"),
       "error[replay.too_many_steps]: torchrec/sparse_dist: 1000000 steps would take "},
      {"predict --schedule all --from " + snapshot("sparse", 0),
       "error[replay.no_device_work]: " + snapshot("sparse", 0)},
      {"predict --schedule recsys/dp_only --from " + sample("sparse"),
       "error[replay.stage_not_recorded]: recsys/dp_only"},
      {"convert x -o out.txt", "error[cli.unknown_output]: out.txt"},
      {"schedules show no/such", "error[schedule.no_such_schedule]"}};
  for (const auto& [arguments, start] : cases) {
    const Finished run = interlace(arguments);
    EXPECT_EQ(run.status, 1) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    // Commands that work for long say what they do first, a line a stage.
    const std::size_t error = run.err.find("error[");
    ASSERT_NE(error, std::string::npos) << arguments << ": " << run.err;
    EXPECT_TRUE(run.err.substr(error).starts_with(start)) << arguments << ": " << run.err;
    EXPECT_EQ(lines_of(run.err.substr(error)), 1U) << run.err;
  }
}

TEST_F(CliTest, FitsANarrowTerminal) {
  for (const std::string& arguments :
       {"predict --schedule all --steps 3 --from " + sample("sparse"), "info " + sample("sparse.mem"),
        std::string("schedules show torchrec/semi_sync"), "check " + sample("sparse")}) {
    const Finished run = interlace(arguments, "80");
    ASSERT_EQ(run.status, 0) << run.err;
    std::size_t widest = 0;
    std::istringstream lines(run.out + run.err);
    for (std::string line; std::getline(lines, line); widest = std::max(widest, report::columns_of(line))) {
      EXPECT_LE(report::columns_of(line), 80U) << line;
    }
    EXPECT_GT(widest, 70U) << arguments;
  }
}

TEST_F(CliTest, FitsTheNarrowestTerminal) {
  for (const std::string& arguments :
       {"predict --schedule all --steps 3 --from " + sample("sparse"), "info " + sample("sparse.mem"),
        "explain " + sample("base") + " " INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6/sparse.r0.json.gz",
        std::string("schedules"), std::string("schedules show torchrec/semi_sync"), std::string("check all")}) {
    const Finished run = interlace(arguments, "60");
    EXPECT_NE(run.out, "") << run.err;
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(report::columns_of(line), 60U) << line;
  }
}

TEST_F(CliTest, NamesTheWordThatIsWrong) {
  const auto said = [](const std::string& arguments) {
    const Finished run = interlace(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_EQ(lines_of(run.err), 1U) << run.err;
    const std::string start = "error[cli.usage]: ";
    const std::string end = " (--help says more)\n";
    EXPECT_TRUE(run.err.starts_with(start) && run.err.ends_with(end)) << run.err;
    return run.err.substr(start.size(), run.err.size() - start.size() - end.size());
  };
  EXPECT_EQ(said("predct --from x"), R"("predct" is no subcommand of interlace; did you mean "predict"?)");
  EXPECT_EQ(said("xyz"), R"("xyz" is no subcommand of interlace)");
  EXPECT_EQ(said("schedules shw x"), R"("shw" is no subcommand of schedules; did you mean "show"?)");
  EXPECT_EQ(said("predict --from x --schedules y"),
            R"("--schedules" is no option of predict; did you mean "--schedule"?)");
  EXPECT_EQ(said("predict --from x"), "--schedule is required");
  for (const std::string command : {"predict --from x --schedule all", "search --from x --out y"}) {
    for (const std::string wrong : {"80GB", "-1", "0", "1e-30", "1e30", "inf", "nan"}) {
      EXPECT_EQ(said(command + " --gpu-memory " + wrong),
                "--gpu-memory: \"" + wrong + "\" is no number of GiB from 0.001 to 1000000000");
    }
    EXPECT_EQ(said(command + " --measured-step-ms 1e30"),
              "--measured-step-ms: \"1e30\" is no step time in ms from 0.001 to 10000000");
  }
  for (const std::string wrong : {"-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(said("predict --from x --schedule all --seed " + wrong),
              "--seed: \"" + wrong + "\" is no whole number from 0 to 18446744073709551615");
  }
  EXPECT_EQ(said("validate --batch 0"), R"(--batch: "0" is no whole number from 1 to 2147483647)");
  EXPECT_TRUE(said("info x --kernels -1").starts_with(R"(--kernels: "-1" is no whole number)"));
  EXPECT_EQ(said("schedules --json"), R"("--json" is no option of schedules)");
  EXPECT_EQ(said("validate --minutes long"), R"(--minutes: "long" is no number of minutes from 0.001 to 1000000)");
}

// What stands behind `record` is for another program, which a build lays beside this one.
TEST_F(CliTest, HandsEveryWordToTheRecorder) {
  std::filesystem::copy_file(INTERLACE_BINARY, folder / "interlace");
  for (const char* part : {"interlace-record", "interlace-calibrate"}) {
    std::ofstream(folder / part) << "#!/bin/sh\nprintf '<%s>' \"$@\"\n";
    std::filesystem::permissions(folder / part, std::filesystem::perms::owner_all);
  }
  const auto handed = [&](const std::string& words) { return testing::run_program(path("interlace ") + words).out; };
  EXPECT_EQ(handed("record -- python3 train.py"), "<--><python3><train.py>");
  EXPECT_EQ(handed("record --light -- python3 --version"), "<--light><--><python3><--version>");
  EXPECT_EQ(handed("record --out d -q -- x -- y"), "<--out><d><-q><--><x><--><y>");
  EXPECT_EQ(handed("-q record -- --help"), "<--><--help>");
  EXPECT_EQ(handed("calibrate --help"), "<--help>");
}

TEST_F(CliTest, ExplainsPartsThatAreNotBuilt) {
  std::filesystem::copy_file(INTERLACE_BINARY, folder / "interlace");
  const auto run = [&](const std::string& words) { return testing::run_program(path("interlace ") + words); };
  const Finished help = run("record --help");
  EXPECT_EQ(help.status, 0) << help.err;
  EXPECT_NE(help.out.find("interlace record [options] -- program args...\nHere recording is not part of this build"),
            std::string::npos)
      << help.out;
  EXPECT_NE(run("calibrate -h").out.find("docs/calibrate.md"), std::string::npos);
  // Behind "--" it is a word of the program that is to be recorded.
  EXPECT_TRUE(run("record -- x --help").err.starts_with("error[cli.part_not_built]"));
}

TEST_F(CliTest, SaysWhichTracesOfEarlierAnswersAreLeft) {
  const std::string ask = "predict --steps 3 --from " + sample("sparse") + " --out " + path("out") + " --schedule ";
  EXPECT_EQ(interlace(ask + "torchrec/base").err.find("not of this answer"), std::string::npos);
  EXPECT_EQ(interlace(ask + "torchrec/base").err.find("not of this answer"), std::string::npos);
  const Finished other = interlace(ask + "torchrec/sparse_dist_lite", "200");
  EXPECT_NE(other.err.find("also holds predicted traces that are not of this answer: torchrec_base\n"),
            std::string::npos)
      << other.err;
}

// A copy of the recording says the same; the recording itself is no other run, and one of another schedule is not of
// this job.
TEST_F(CliTest, PredictsFromSeveralRecordings) {
  const std::string runs = INTERLACE_SOURCE_DIR "/samples/traces/engine_exposed_1_rank/";
  const auto base_of = [&](const std::string& again) {
    const testing::Finished done =
        interlace("predict --format json --schedule torchrec/base --from " + runs + "sparse_dist" + again);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  };
  const Json one = base_of("");
  std::filesystem::copy(runs + "sparse_dist", folder / "copy", std::filesystem::copy_options::recursive);
  const Json twice = base_of(" --again " + path("copy"));
  EXPECT_EQ(twice["recorded"]["recordings"], 2);
  EXPECT_EQ(twice["recorded"]["steps"].get<int>(), 2 * one["recorded"]["steps"].get<int>());
  const Json& row = twice["predictions"][0];
  const Json& step = one["predictions"][0]["step_time_ns"];
  EXPECT_EQ(row["step_time_ns"], step);
  EXPECT_EQ(row["speedup"], one["predictions"][0]["speedup"]);
  EXPECT_EQ(row["overlap"], one["predictions"][0]["overlap"]);
  EXPECT_EQ(row["step_times_of_recordings_ns"], (Json{step, step}));
  const testing::Finished same =
      interlace("predict --schedule all --from " + runs + "sparse_dist --again " + runs + "base/../sparse_dist");
  EXPECT_EQ(same.status, 1);
  EXPECT_NE(same.err.find("error[cli.repeated_recording]: " + runs + "base/../sparse_dist"), std::string::npos)
      << same.err;
  const testing::Finished other =
      interlace("predict --schedule all --from " + runs + "sparse_dist --again " + runs + "base");
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.err.find("error[report.other_job]: " + runs + "base: holds torchrec/base"), std::string::npos)
      << other.err;
}

TEST_F(CliTest, InfoShowsARecording) {
  const Finished table = interlace("info " + sample("sparse"));
  EXPECT_EQ(table.status, 0) << table.err;
  for (const std::string_view part : {"NVIDIA H200", "all_to_allv", "main", "data quality"}) {
    EXPECT_NE(table.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos) << "colours in a pipe";
  const Finished json = interlace("info --format json --kernels 3 " + sample("sparse"));
  EXPECT_EQ(json.status, 0) << json.err;
  const Json info = Json::parse(json.out);
  EXPECT_EQ(info["ranks"].size(), 2U);
  EXPECT_EQ(info["ranks"][1]["rank"], 1);
  EXPECT_EQ(info["kernels"].size(), 3U);
}

/// Both snapshots of the recording "SCHEDULE.mem".
std::string with_snapshots(const std::string& schedule) {
  return " --memory-snapshot " + snapshot(schedule, 0) + " " + snapshot(schedule, 1);
}

// The profiler's totals and the allocator's own history come to the same peaks; what only the history tells, the
// profiler alone leaves open.
TEST_F(CliTest, InfoShowsMemory) {
  const Finished alone = interlace("info --format json " + sample("sparse.mem"));
  ASSERT_EQ(alone.status, 0) << alone.err;
  const Finished joined = interlace("info --format json " + sample("sparse.mem") + with_snapshots("sparse"));
  ASSERT_EQ(joined.status, 0) << joined.err;
  const Json before = Json::parse(alone.out)["memory"];
  const Json after = Json::parse(joined.out)["memory"];
  ASSERT_EQ(before.size(), 2U);
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(after[rank]["allocated_peak_bytes"], before[rank]["allocated_peak_bytes"]);
    EXPECT_EQ(after[rank]["reserved_peak_bytes"], before[rank]["reserved_peak_bytes"]);
    EXPECT_TRUE(before[rank]["active_peak_bytes"].is_null());
    EXPECT_GT(after[rank]["active_peak_bytes"], after[rank]["allocated_peak_bytes"]);
    EXPECT_EQ(before[rank]["joined_events"], 0);
    EXPECT_EQ(after[rank]["joined_events"], before[rank]["events"]);
    EXPECT_EQ(after[rank]["streams"].size(), 3U);
    EXPECT_EQ(after[rank]["streams"][0]["stream"], "stream 7");
  }

  const Finished table = interlace("info " + sample("sparse.mem") + with_snapshots("sparse"));
  EXPECT_NE(table.out.find("memory by stream"), std::string::npos) << table.out;
}

// In front of recordings the option takes one word each time; behind them all, as docs/memory_snapshots.md shows.
TEST_F(CliTest, TakesMemorySnapshotsAnywhere) {
  const std::string behind = sample("sparse.mem") + with_snapshots("sparse");
  const std::string before = " --memory-snapshot " + snapshot("sparse", 0) + " --memory-snapshot " +
                             snapshot("sparse", 1) + " " + sample("sparse.mem");
  const Finished info = interlace("info --format json " + before);
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(info.out, interlace("info --format json " + behind).out);
  EXPECT_EQ(interlace("convert -o " + path("a.ilt") + before).err,
            interlace("convert " + behind + " -o " + path("b.ilt")).err);
  EXPECT_EQ(content(path("a.ilt")), content(path("b.ilt")));
  const Finished check = interlace("check" + before);
  EXPECT_EQ(check.status, 0) << check.err;
  const auto findings = [](const Finished& run) { return run.out.substr(run.out.find('\n')); };
  EXPECT_EQ(findings(check), findings(interlace("check " + behind)));
}

TEST_F(CliTest, ConvertKeepsTheMemory) {
  const Finished convert =
      interlace("convert -o " + path("joined.ilt") + " " + sample("base.mem") + with_snapshots("base"));
  ASSERT_EQ(convert.status, 0) << convert.err;
  const Finished again = interlace("info --format json " + path("joined.ilt"));
  const Finished joined = interlace("info --format json " + sample("base.mem") + with_snapshots("base"));
  EXPECT_EQ(Json::parse(again.out)["memory"], Json::parse(joined.out)["memory"]);
}

TEST_F(CliTest, ASnapshotAloneIsARecording) {
  const Finished alone = interlace("info --format json " + snapshot("sparse", 1));
  ASSERT_EQ(alone.status, 0) << alone.err;
  const Json info = Json::parse(alone.out);
  EXPECT_EQ(info["ranks"][0]["rank"], 1) << "of the device that it speaks of";
  EXPECT_EQ(info["ranks"][0]["steps"]["marker"], "backward");
  EXPECT_EQ(info["memory"][0]["events"], 1918);
}

TEST_F(CliTest, PredictAnswersInTheOrderAskedAndTheSameEachTime) {
  const std::string arguments =
      "predict --format json --schedule torchrec/semi_sync torchrec/base --from " + sample("base");
  const Finished run = interlace(arguments);
  ASSERT_EQ(run.status, 0) << run.err;
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json["predictions"].size(), 2U);
  EXPECT_EQ(json["predictions"][0]["schedule"], "torchrec/semi_sync");
  EXPECT_EQ(json["predictions"][1]["schedule"], "torchrec/base");
  // What was recorded is base: its own speed-up is 1 by definition, and nothing differs.
  EXPECT_EQ(json["recorded"]["schedule"], "torchrec/base");
  EXPECT_EQ(json["predictions"][1]["speedup"], 1.0);
  EXPECT_TRUE(json["predictions"][1]["reasons"].empty());
  EXPECT_FALSE(json["predictions"][0]["reasons"].empty());
  EXPECT_EQ(interlace(arguments).out, run.out);
}

// In a recording that was cut off the optimizer may have lost its device work.
TEST_F(CliTest, PredictsStepsOfRanksWhoseOptimizerDoesNothingOnTheDevice) {
  std::ifstream whole(INTERLACE_SOURCE_DIR "/samples/traces/engine_t6/sparse_dist/rank0.ilt", std::ios::binary);
  std::string bytes(30'000, '\0');
  whole.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const testing::TemporaryFolder place;
  const auto cut = place.write("cut.ilt", bytes);
  const Finished run = interlace("predict --schedule torchrec/base --format json --from " + cut.string());
  ASSERT_EQ(run.status, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_GT(report["recorded"]["predicted_step_time_ns"], 1'000'000);
  EXPECT_GT(report["predictions"][0]["step_time_ns"], 1'000'000);
}

// Rank 0 in one annotation around all of its steps: its optimizer's, now inner ones, mark none.
TEST_F(CliTest, PredictTellsNoRecordedStepWhereARankShowsNone) {
  const std::filesystem::path samples = INTERLACE_SOURCE_DIR "/samples/traces/torchrec_c6";
  const std::vector<std::filesystem::path> files{samples / "base.r0.json.gz", samples / "base.r1.json.gz"};
  const ingest::Recording recording = ingest::read(files);
  const trace::Trace& trace = recording.trace;
  trace::TraceBuilder builder;
  std::vector<trace::RankId> ranks;
  for (const trace::Rank& rank : trace.ranks()) ranks.push_back(builder.add_rank(rank));
  trace::append_trace(trace, ranks, builder);
  const auto main = analysis::Annotations(trace).main_thread({0});
  ASSERT_TRUE(main);
  builder.add_range({*main, builder.intern("all of it"), trace.origin(), trace.length(), {}},
                    {.kind = trace::RangeKind::kAnnotation});
  Diagnostics ignored;
  write_ilt(std::move(builder).build(ignored), path("nested.ilt"));
  const std::string predict = "predict --schedule torchrec/sparse_dist --from " + path("nested.ilt");
  const Finished run = interlace(predict + " --format json --out " + path("out"));
  ASSERT_EQ(run.status, 0) << run.err;
  const Json recorded = Json::parse(run.out)["recorded"];
  EXPECT_EQ(recorded["schedule"], "torchrec/base");
  EXPECT_EQ(recorded["steps"], 0);
  EXPECT_TRUE(recorded["step_time_ns"].is_null()) << "it was the length of the recording";
  EXPECT_TRUE(recorded["overlap"].is_null());
  EXPECT_TRUE(recorded["replayed_hidden_ratio"].is_null()) << "nothing to correct hidden communication by";
  EXPECT_GT(recorded["predicted_step_time_ns"], 1'000'000);
  EXPECT_NE(interlace(predict).out.find("2 of 2 ranks, no whole step of each rank known"), std::string::npos);
}

// With one rank exchanges order nothing.
TEST_F(CliTest, PredictMarksWhatRacesWithTheRanksThatWereRecorded) {
  const std::string predict =
      "predict --format json --steps 3 --schedule torchrec/fused_sparse_dist_new_stream --from ";
  const auto hazards = [&](const std::string& recording) {
    return Json::parse(interlace(predict + recording).out)["predictions"][0]["hazards"];
  };
  EXPECT_EQ(hazards(INTERLACE_SOURCE_DIR "/samples/traces/torchrec_w1_1_rank/base.mem.r0.ilt").size(), 1U);
  EXPECT_TRUE(hazards(sample("base")).empty());
}

TEST_F(CliTest, PredictTellsTheHazardsThatAScheduleSaysItHas) {
  const Json answer = Json::parse(
      interlace("predict --format json --steps 3 --schedule torchrec/fused_sparse_dist --from " + sample("base")).out);
  const Json& row = answer["predictions"][0];
  EXPECT_TRUE(row["hazards"].empty());
  ASSERT_EQ(row["known_hazards"].size(), 1U) << row;
  EXPECT_TRUE(row["known_hazards"][0].get<std::string>().starts_with("free_before_last_use of output_exchange(i)"));
}

// The built-in one is sound; TorchRec's own is not.
TEST_F(CliTest, PredictTellsWhatMayGoWrongInTheCodeThatAScheduleStandsFor) {
  const Json answer = Json::parse(interlace("predict --format json --steps 3 --schedule "
                                            "torchrec/fused_sparse_dist_new_stream --from " +
                                            sample("base"))
                                      .out);
  const Json& known = answer["predictions"][0]["known_hazards"];
  ASSERT_EQ(known.size(), 1U);
  EXPECT_TRUE(known[0].get<std::string>().starts_with("TorchRec 1.6.1 and before")) << known;
}

TEST_F(CliTest, PredictRecognisesWhatWasRecorded) {
  for (const auto& [files, schedule] : {std::pair{"sparse", "torchrec/sparse_dist"},
                                        std::pair{"fused_snew", "torchrec/fused_sparse_dist_new_stream"}}) {
    const Finished run = interlace("predict --format json --schedule torchrec/base --from " + sample(files));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(Json::parse(run.out)["recorded"]["schedule"], schedule);
  }
}

TEST_F(CliTest, PredictSaysWhatMayShiftItsAnswerAndWhatToDo) {
  // One of two ranks is given.
  const Finished run = interlace("predict --schedule torchrec/base --from " INTERLACE_SOURCE_DIR
                                 "/samples/traces/torchrec_c6/sparse.r0.json.gz",
                                 "80");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("beware: ranks of the job"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("(ingest.missing_ranks, first: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("of all ranks"), std::string::npos) << "without advice: " << run.err;
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(CliTest, PredictAllLeavesOutWhatDoesNotApplyAndWritesItsAnswer) {
  const Finished run =
      interlace("predict --steps 4 --schedule all --from " + sample("sparse") + " --out " + path("out/deep"));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("left out, stage \"prefetch\" is not in the recording"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("recsys/dp_mp_racy"), std::string::npos) << "a hazard in --schedule all";
  EXPECT_NE(run.err.find("data quality"), std::string::npos);
  for (const std::string_view file :
       {"report.html", "report.json", "report.csv", "torchrec_base.ilt", "torchrec_base.perfetto.json.gz"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "out/deep" / file)) << file;
  }
  const Finished again = interlace("info --format json " + path("out/deep/torchrec_base.ilt"));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["ranks"].size(), 2U);
}

// The answer stands there, with the reasons.
TEST_F(CliTest, PredictAllFailsWhereNoScheduleApplies) {
  std::ofstream(folder / "profile.json") << R"({"interlace_annotations": 1, "name": "mine",
    "iteration_end": "^## optimizer", "backward": "^## backward ##$",
    "rules": [{"stage": "compute", "within": ["^## backward"]}]})";
  const Finished run = interlace("predict --schedule all --format json --profile " + path("profile.json") + " --from " +
                                 sample("sparse"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("error[cli.nothing_predicted]: "), std::string::npos) << run.err;
  EXPECT_GT(Json::parse(run.out).at("left_out").size(), 10U);
}

TEST_F(CliTest, PredictsWhatARecordingWouldShow) {
  const auto replayed_ns = [&](const std::string& options) {
    const Finished run =
        interlace("predict --format json --schedule torchrec/base " + options + "--from " + sample("base"));
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out)["predictions"][0]["step_time_ns"].get<double>();
  };
  const double under_recorder = replayed_ns("--under-recorder ");
  EXPECT_GT(under_recorder, 1.01 * replayed_ns("")) << "the recorder slows a host that decides";
}

TEST_F(CliTest, SaysWhetherSchedulesFit) {
  const std::string ask = "predict --schedule torchrec/base --gpu-memory ";
  const Finished unknown = interlace(ask + "1 --from " + sample("sparse"));
  ASSERT_EQ(unknown.status, 0) << unknown.err;
  EXPECT_NE(unknown.out.find("whether it fits in 1.00 GiB cannot be told: memory was not recorded"), std::string::npos)
      << unknown.out;
  const auto answer = [&](const std::string& words) {
    const Finished run = interlace(ask + words + " --format json");
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out);
  };
  const Json json = answer("1 --from " + sample("sparse"));
  EXPECT_TRUE(json["predictions"][0]["fits"].is_null());
  EXPECT_EQ(json["recorded"]["gpu_memory_bytes"], 1 << 30);
  const Json flaws = json["recorded"]["diagnostics"];
  const auto told = [](const Json& flaw) { return flaw["code"] == "predict.memory_not_recorded"; };
  EXPECT_TRUE(std::ranges::any_of(flaws, told)) << flaws;
  const std::string with_memory = " --from " + sample("base.mem") + with_snapshots("base");
  const Json fits = answer("80" + with_memory)["predictions"][0];
  EXPECT_EQ(fits["fits"], true);
  EXPECT_EQ(fits["memory"][0]["played_steps"], 30);
  EXPECT_EQ(answer("1" + with_memory)["predictions"][0]["fits"], false);
}

TEST_F(CliTest, QuietLeavesStandardErrorEmpty) {
  const Finished run = interlace("predict -q --schedule torchrec/base --from " + sample("sparse"));
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
}

TEST_F(CliTest, ConvertThroughIltLosesNothing) {
  ASSERT_EQ(interlace("convert " + sample("base") + " -o " + path("a.ilt")).status, 0);
  ASSERT_EQ(interlace("convert " + path("a.ilt") + " -o " + path("from_ilt.json")).status, 0);
  ASSERT_EQ(interlace("convert " + sample("base") + " -o " + path("direct.json")).status, 0);
  const std::string direct = content(path("direct.json"));
  EXPECT_EQ(content(path("from_ilt.json")), direct);
  EXPECT_GT(Json::parse(direct)["traceEvents"].size(), 10'000U);
  EXPECT_EQ(interlace("info " + path("a.ilt") + " " + path("a.ilt")).err.substr(0, 28), "error[ingest.duplicate_rank]");
}

TEST_F(CliTest, PicturesForPerfettoAreNoRecordings) {
  ASSERT_EQ(interlace("convert " + sample("base") + " -o " + path("s.json")).status, 0);
  ASSERT_EQ(
      interlace("predict --schedule torchrec/base --steps 3 --from " + sample("base") + " --out " + path("out")).status,
      0);
  for (const std::string& file : {path("s.json"), path("out/torchrec_base.perfetto.json.gz")}) {
    const Finished run = interlace("info " + file);
    EXPECT_EQ(run.status, 1) << run.out;
    EXPECT_NE(run.err.find("error[ingest.unsupported_format]: " + file), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(".ilt"), std::string::npos) << run.err;
  }
}

TEST_F(CliTest, WritesOverNothingThatItReads) {
  ASSERT_EQ(interlace("convert " + sample("base") + " -o " + path("a.ilt")).status, 0);
  const std::string before = content(path("a.ilt"));
  for (const std::string& arguments :
       {"convert " + path("a.ilt") + " -o " + path("./a.ilt"), "merge " + path("a.ilt") + " -o " + path("a.ilt"),
        "convert " + folder.string() + " -o " + path("a.ilt")}) {
    const Finished run = interlace(arguments);
    EXPECT_EQ(run.status, 1) << arguments;
    EXPECT_TRUE(run.err.starts_with("error[cli.output_is_input]: ")) << run.err;
  }
  EXPECT_EQ(content(path("a.ilt")), before);
}

TEST_F(CliTest, SaysThatAFolderCannotBeWrittenTo) {
  for (const std::string command : {"convert ", "merge "}) {
    const Finished run = interlace(command + sample("base") + " -o " + path("none/s.ilt"));
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.err.find("s.ilt: the file cannot be made (check that its folder exists"), std::string::npos)
        << run.err;
  }
}

// The measured step belongs to the job as it was recorded: with the optimizer made longer, the replayed recorded
// schedule ends above it by as much as without the anchor (but for the host's pace, which the measured step tells).
TEST_F(CliTest, EditsConcernTheRecordedScheduleToo) {
  const std::string ask = "predict --format json --schedule torchrec/sparse_dist --from " + sample("sparse");
  const std::string edit = " --edit " INTERLACE_SOURCE_DIR "/samples/edits/longer_optimizer.json";
  const auto recorded = [](const Finished& run) { return Json::parse(run.out)["recorded"]; };
  const Json plain = recorded(interlace(ask));
  const Json longer = recorded(interlace(ask + edit));
  const Json anchored = recorded(interlace(ask + edit + " --measured-step-ms 40"));
  EXPECT_TRUE(plain["edits"].empty());
  EXPECT_EQ(longer["edits"][0], "optimizer_step takes 100 times as long on the device");
  const auto step = [](const Json& run) { return run["predicted_step_time_ns"].get<double>(); };
  EXPECT_GT(step(longer), step(plain) * 1.02);
  EXPECT_NEAR(step(anchored) / 40e6, step(longer) / step(plain), 0.01);
  const Json unedited = recorded(interlace(ask + " --measured-step-ms 40"));
  EXPECT_NEAR(step(unedited), 40e6, 1);
  EXPECT_EQ(anchored["replay_error"], unedited["replay_error"]) << "of the job as it was recorded";
  const Finished table = interlace("predict --schedule torchrec/sparse_dist --from " + sample("sparse") + edit);
  EXPECT_NE(table.out.find("what if   optimizer_step takes 100 times as long on the device\n"), std::string::npos)
      << table.out;
}

// A profile of other annotations finds nothing in TorchRec's.
TEST_F(CliTest, CutsByTheProfileGiven) {
  std::ofstream(path("profile.json")) << R"({"interlace_annotations": 1, "iteration_end": "^my step$",
    "rules": [{"stage": "optimizer_step", "within": ["^my optimizer$"]}]})";
  const Finished run =
      interlace("predict --schedule torchrec/base --from " + sample("sparse") + " --profile " + path("profile.json"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("error[stages.no_iterations]"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("\"^my step$\", the iteration_end of the "), std::string::npos) << run.err;
}

}  // namespace
}  // namespace interlace::cli
