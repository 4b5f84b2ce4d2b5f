#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "simulator/report/diagnostics_table.hpp"
#include "simulator/report/predict_data.hpp"
#include "simulator/report/predict_table.hpp"
#include "tests/unit/report/sample_report.hpp"

namespace interlace::report {
namespace {

template <class Write, class... More>
std::string text_of(Write write, const More&... arguments) {
  std::ostringstream out;
  write(out, arguments...);
  return out.str();
}

// The axis runs from the lowest low, 32 ms, to the highest high, 37 ms, over the 47 columns that a name column of 13
// leaves of 100 (13 + 2 + 9 + 17 + 10 + 2 are taken): 46 / 5 = 9.2 columns a millisecond. So base's low at 35.5 ms is
// column 32, its time at 36 ms column 37, its high column 46.
TEST(PredictTable, FitsTheTerminalAndMarksTheBest) {
  PredictReport report = sample_report();
  report.predictions[0].speedup = 38.0 / 36.0;
  const std::string expected =
      "recorded  torchrec/sparse_dist, 2 of 2 ranks, 3 steps, 34.10 ms a step as recorded, 34.00 ms\n"
      "          replayed\n"
      "a step    exposed communication 0.00 ms, device idle 0.00 ms, host blocked 24.30 ms, as recorded\n"
      "\n"
      "schedule         step ms        p10 - p90  speed-up  32.00                                     37.00\n"
      "mine, \"v2\"    x    32.00    32.00 - 32.00         -  o\n"
      "    exposed communication 0.00 ms, device idle 1.00 ms\n"
      "    x read_before_write of kjt(i)\n"
      "    x another\n"
      "    ! reads tables 1 update late: not the numbers of a synchronous loop\n"
      "torchrec/base *    36.00    35.50 - 37.00    1.056x                                  |----o--------|\n"
      "    exposed communication 6.00 ms (25 % hidden), device idle 0.90 ms, host blocked 5.25 ms\n"
      "    ! known hazard: free_before_last_use of output_exchange(i)\n"
      "    ! assumed (replay.assumed)\n"
      "    - exposes 4.0 ms more communication\n"
      "    - host now blocks \"long\", 3.2 ms\n"
      "    ! gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms\n"
      "\n"
      "left out, the recording has no stage prefetch: torchrec/prefetch_sparse_dist, torchrec/other\n";
  EXPECT_EQ(text_of(write_predict_table, report, TextStyle{.unicode = false}), expected);
}

TEST(PredictTable, CountsRanksOfAJobWhoseSizeIsNotKnown) {
  PredictReport report = sample_report();
  report.recorded.ranks = {0};
  report.recorded.world_size = std::nullopt;
  const std::string text = text_of(write_predict_table, report, TextStyle{});
  EXPECT_TRUE(text.starts_with("recorded  torchrec/sparse_dist, 1 rank, 3 steps, ")) << text;
}

TEST(PredictTable, TellsOnceWhatConcernsAllPredictions) {
  PredictReport report = sample_report();
  report.predictions[1].diagnostics = report.predictions[0].diagnostics;
  const std::string text = text_of(write_predict_table, report, TextStyle{});
  EXPECT_NE(text.find("\nbeware    assumed (replay.assumed)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("! assumed"), std::string::npos) << text;
}

TEST(PredictTable, SaysWhatTheReplayWasOffBeforeItWasCorrected) {
  PredictReport report = sample_report();
  const TextStyle style{.width = 200};
  report.recorded.replay_error = 0.0361;
  EXPECT_NE(text_of(write_predict_table, report, style).find(" replayed, corrected for being 3.6 % too slow\n"),
            std::string::npos);
  report.recorded.replay_error = -0.02;
  EXPECT_NE(text_of(write_predict_table, report, style).find(" replayed, corrected for being 2.0 % too fast\n"),
            std::string::npos);
  report.recorded.overlap.emplace();
  report.recorded.overlap->communication_ns = 1000;
  report.recorded.overlap->communication_hidden_ns = 820;
  report.recorded.replayed_hidden_ratio = 0.78;
  const std::string both = " too fast; hidden communication corrected: 82 % recorded, 78 replayed so\n";
  EXPECT_NE(text_of(write_predict_table, report, style).find(both), std::string::npos);
  report.recorded.replay_error.reset();
  EXPECT_NE(text_of(write_predict_table, report, style).find(" replayed; hidden communication corrected"),
            std::string::npos);
  report.recorded.replayed_hidden_ratio = 0.8249;
  EXPECT_NE(text_of(write_predict_table, report, style).find(" replayed\n"), std::string::npos);
}

TEST(PredictTable, TellsWhatSharedQueuesCost) {
  PredictReport report = sample_report();
  report.recorded.step_time_ns = 40'000'000;
  report.recorded.late_starts = {{"stream 22", 400'000}, {"stream 9", 10'000}};
  const TextStyle style{.width = 300};
  EXPECT_NE(text_of(write_predict_table, report, style)
                .find("\nqueues    works of the main stream and of stream 22 start 0.40 ms late a step, "),
            std::string::npos);
  report.recorded.late_starts = {{"stream 22", 100'000}};
  EXPECT_EQ(text_of(write_predict_table, report, style).find("queues"), std::string::npos) << "0.25 % of a step";
}

TEST(PredictTable, TellsWhatUnevenPartsCost) {
  PredictReport report = sample_report();
  report.recorded.step_time_ns = 40'000'000;
  report.recorded.uneven_parts_ns = 2'310'000;
  const TextStyle style{.width = 300};
  EXPECT_NE(text_of(write_predict_table, report, style)
                .find("\nparts     exchanges of ids and weights take 2.31 ms a step more than they need, "),
            std::string::npos);
  report.recorded.uneven_parts_ns = 100'000;
  EXPECT_EQ(text_of(write_predict_table, report, style).find("parts  "), std::string::npos) << "0.25 % of a step";
}

TEST(PredictTable, GivesTheStarToSoundSchedulesOnly) {
  PredictReport report = sample_report();
  report.predictions[1].hazards.clear();
  EXPECT_NE(text_of(write_predict_table, report, TextStyle{.unicode = false}).find("\"v2\"    *"), std::string::npos);
}

TEST(PredictTable, NoLineIsWiderThanAsked) {
  PredictReport report = sample_report();
  report.predictions[0].schedule = "torchrec/sparse_dist_enqueue_after_forward_with_a_very_long_name";
  report.predictions[0].reasons[0] = std::string(30, 'x') + " " + std::string(60, 'y') + " " + std::string(30, 'z');
  for (const bool colour : {false, true}) {
    std::istringstream lines(text_of(write_predict_table, report, TextStyle{.colour = colour}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 100U) << line;
  }
}

TEST(PredictTable, HasNoColoursUnlessAskedFor) {
  PredictReport report = sample_report();
  report.predictions[0].speedup = 38.0 / 36.0;
  EXPECT_EQ(text_of(write_predict_table, report, TextStyle{}).find('\x1b'), std::string::npos);
  const std::string coloured = text_of(write_predict_table, report, TextStyle{.colour = true});
  EXPECT_NE(coloured.find("\x1b[1;32m"), std::string::npos);
  EXPECT_NE(coloured.find("\x1b[31m"), std::string::npos);
}

TEST(PredictJson, HasTheAgreedKeys) {
  const auto json = nlohmann::ordered_json::parse(text_of(write_predict_json, sample_report()));
  const auto keys = [](const nlohmann::ordered_json& object) {
    std::vector<std::string> all;
    for (const auto& [key, value] : object.items()) all.push_back(key);
    return all;
  };
  EXPECT_EQ(keys(json), (std::vector<std::string>{"recorded", "predictions", "left_out"}));
  EXPECT_EQ(json["left_out"].size(), 2U);
  EXPECT_EQ(json["left_out"][0]["schedule"], "torchrec/prefetch_sparse_dist");
  EXPECT_EQ(json["left_out"][0]["why"], "the recording has no stage prefetch");
  ASSERT_EQ(json["predictions"].size(), 2U);
  EXPECT_EQ(json["recorded"]["overlap"]["host_blocked_ns"], 24'300'000);
  const auto& base = json["predictions"][0];
  EXPECT_EQ(keys(base),
            (std::vector<std::string>{"schedule", "step_time_ns", "step_time_low_ns", "step_time_high_ns", "speedup",
                                      "overlap", "exposed_communication_ns", "reasons", "diagnostics", "hazards",
                                      "known_hazards", "tables_updates_late", "dense_parameters_updates_late"}));
  EXPECT_EQ(base["step_time_ns"], 36'000'000);
  EXPECT_DOUBLE_EQ(base["speedup"].get<double>(), 34.0 / 36.0);
  EXPECT_EQ(base["exposed_communication_ns"], 6'000'000);
  EXPECT_EQ(base["overlap"]["communication_hidden_ratio"], 0.25);
  EXPECT_EQ(base["overlap"]["host_blocked_ns"], 5'250'000);
  EXPECT_EQ(base["reasons"][2], "gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms");  // races come last
  EXPECT_EQ(base["diagnostics"][0]["severity"], "warning");
  EXPECT_EQ(json["predictions"][1]["hazards"][1], "another");
  EXPECT_TRUE(base["hazards"].empty());
  EXPECT_EQ(base["known_hazards"][0], "free_before_last_use of output_exchange(i)");
  EXPECT_TRUE(json["predictions"][1]["known_hazards"].empty());
  EXPECT_EQ(json["predictions"][1]["tables_updates_late"], 1);
  EXPECT_TRUE(json["predictions"][1]["dense_parameters_updates_late"].is_null());
  EXPECT_TRUE(json["predictions"][1]["speedup"].is_null());
  EXPECT_TRUE(json["predictions"][1]["overlap"]["communication_hidden_ratio"].is_null());
  EXPECT_EQ(json["recorded"]["schedule"], "torchrec/sparse_dist");
  EXPECT_EQ(json["recorded"]["ranks"], (std::vector<int>{0, 1}));
  EXPECT_EQ(json["recorded"]["diagnostics"][0]["count"], 1234);
}

PredictReport report_with_memory() {
  PredictReport report = sample_report();
  RankMemory memory{.allocated_peak = 9'840'000'000,
                    .active_peak = 11'430'000'000,
                    .reserved_peak = 13'900'000'000,
                    .reserved_low = 13'800'000'000,
                    .reserved_high = 14'100'000'000,
                    .persistent = 1'640'000'000,
                    .culprits = {{"backward/update [ebc]", 0, 2'180'000'000}, {"copy_batch_to_gpu", 2, 790'000'000}},
                    .pools = {{"main", 5'500'000'000, 1'640'000'000}},
                    .failure = {},
                    .played_steps = 30};
  RankMemory less = memory;
  less.reserved_peak = 13'000'000'000;
  report.predictions[0].memory = {less, memory};
  return report;
}

TEST(PredictJson, HasMemoryAListOfRanks) {
  const auto json = nlohmann::json::parse(text_of(write_predict_json, report_with_memory()));
  const auto& row = json["predictions"][0];
  EXPECT_EQ(row["reserved_peak_bytes"], (std::vector<Bytes>{13'000'000'000, 13'900'000'000}));
  EXPECT_EQ(row["allocated_peak_bytes"].size(), 2U);
  EXPECT_EQ(row["memory"][1]["culprits"][1]["batch"], 2);
  EXPECT_EQ(row["memory"][1]["pools"][0]["stream"], "main");
  EXPECT_TRUE(row["memory"][1]["failure"].is_null());
  EXPECT_FALSE(json["predictions"][1].contains("memory"));
}

TEST(PredictTable, SpeaksOfTheFullestRankAndOfWhatFits) {
  PredictReport report = report_with_memory();
  std::string text = text_of(write_predict_table, report, TextStyle{.unicode = false});
  EXPECT_NE(text.find("allocated 9.16 GiB, active 10.65 GiB, reserved 12.95 GiB (12.85 GiB - 13.13 GiB)"),
            std::string::npos);
  EXPECT_NE(text.find("2.03 GiB of backward/update [ebc], 753.4 MiB of"), std::string::npos) << text;
  EXPECT_EQ(text.find("fits"), std::string::npos);
  report.recorded.capacity = Bytes{12} << 30;
  report.predictions[0].memory[1].failure = "20 bytes for dense_forward fail first";
  text = text_of(write_predict_table, report, TextStyle{.unicode = false});
  EXPECT_NE(text.find("does not fit in 12.00 GiB: 20 bytes for dense_forward fail first"), std::string::npos);
}

TEST(PredictJson, SurvivesNamesThatAreNoUtf8) {
  PredictReport report = sample_report();
  report.predictions[0].reasons = {"kernel \xff\xfe"};
  const auto json = nlohmann::json::parse(text_of(write_predict_json, report));
  EXPECT_EQ(json["predictions"][0]["reasons"][0], "kernel \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(PredictCsv, QuotesAsRfc4180Asks) {
  const std::string expected =
      "schedule,step_time_ns,step_time_low_ns,step_time_high_ns,speedup,exposed_communication_ns,compute_ns,"
      "communication_ns,copy_ns,communication_hidden_ns,copy_hidden_ns,idle_ns,lookup_ns,lookup_hidden_ns,"
      "host_blocked_ns,allocated_peak_bytes,active_peak_bytes,reserved_peak_bytes,reasons,diagnostics,hazards,tables_"
      "updates_late,"
      "dense_parameters_updates_late,communication_hidden_ratio,fits,gpu_memory_bytes,"
      "cache_emptied,known_hazards\r\n"
      "torchrec/base,36000000,35500000,37000000,0.944444,6000000,30000000,8000000,2000000,2000000,1000000,900000,,,"
      "5250000,,,,\"exposes 4.0 ms more communication; host now blocks \"\"long\"\", 3.2 ms; "
      "gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms\",replay.assumed,,0,0,0.250000,,,,free_before_last_use of "
      "output_exchange(i)\r\n"
      "\"mine, \"\"v2\"\"\",32000000,32000000,32000000,,0,31000000,0,0,0,0,1000000,,,,,,,,,read_before_write of "
      "kjt(i); another,1,,,,,,\r\n";
  EXPECT_EQ(text_of(write_predict_csv, sample_report()), expected);
}

TEST(PredictCsv, SaysWhatFits) {
  PredictReport report = report_with_memory();
  report.recorded.capacity = 10'000'000'000;
  EXPECT_NE(text_of(write_predict_csv, report).find(",0.250000,true,10000000000,0,free_before"), std::string::npos);
  report.predictions[0].memory.back().retries = 3;
  EXPECT_NE(text_of(write_predict_csv, report).find(",0.250000,true,10000000000,3,free_before"), std::string::npos);
  // The fullest rank may be one that empties its cache less often, and the text speaks of most as well.
  std::swap(report.predictions[0].memory.front().reserved_peak, report.predictions[0].memory.back().reserved_peak);
  report.predictions[0].memory.front().retries = 2;
  EXPECT_NE(text_of(write_predict_csv, report).find(",0.250000,true,10000000000,3,free_before"), std::string::npos);
  const std::string table = text_of(write_predict_table, report, TextStyle{.unicode = false, .width = 200});
  EXPECT_NE(table.find("only by emptying the cache 3 times in 30 steps from the start of a run"), std::string::npos)
      << table;
  report.predictions[0].memory.back().failure = "too large";
  const std::string text = text_of(write_predict_csv, report);
  EXPECT_NE(text.find(",0.250000,false,10000000000,3,free_before"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(",1,,,,10000000000,,\r\n")) << "memory is not known";
}

TEST(DiagnosticsTable, TellsTheGravestFirst) {
  const PredictReport report = sample_report();
  const std::string expected =
      "data quality\n"
      "  data loss  kineto.lost x 2\n"
      "             records that the profiler dropped\n"
      "             -> record fewer steps\n"
      "  info       graph.inferred_wait x 1,234\n"
      "             waits whose record was inferred (first: r0.json.gz)\n"
      "             -> nothing to do\n";
  EXPECT_EQ(text_of(write_diagnostics, report.recorded.diagnostics, TextStyle{}), expected);
  EXPECT_EQ(text_of(write_diagnostics, std::vector<Diagnostic>{}, TextStyle{}),
            "data quality\n  nothing was missing, repaired or inferred\n");
  EXPECT_EQ(diagnostics_summary({}), "");
  EXPECT_EQ(diagnostics_summary(report.recorded.diagnostics), "data quality: 1 data loss, 1 info");
  EXPECT_EQ(
      flaws_in_full(report.recorded.diagnostics),
      std::vector<std::string>{"lost: records that the profiler dropped (kineto.lost x 2) -> record fewer steps"});
}

TEST(DiagnosticsTable, CountsKindsInPlural) {
  const Diagnostic unsure{"a.b", Severity::kWarning, "what was found", "", 1, ""};
  const std::vector<Diagnostic> two{unsure, unsure};
  EXPECT_EQ(diagnostics_summary(two), "data quality: 2 warnings");
  EXPECT_EQ(flaws_in_full(two).front(), "beware: what was found (a.b)") << "without advice no arrow";
}

TEST(DiagnosticsTable, NamesTheFirstPlaceInALine) {
  Diagnostic found{"a.b", Severity::kWarning, "what was found", "do this", 10, "cudaDeviceSynchronize"};
  EXPECT_EQ(flaw_text(found), "what was found (a.b x 10, first: cudaDeviceSynchronize)");
  found.first_place = std::string(100, 'f') + "/r0.json.gz";
  EXPECT_EQ(flaw_text(found), "what was found (a.b x 10, first: ..." + std::string(46, 'f') + "/r0.json.gz)");
}

TEST(PredictReport, OrdersByStepTime) {
  PredictReport report = sample_report();
  report.predictions.push_back(report.predictions[1]);
  EXPECT_EQ(by_step_time(report), (std::vector<std::size_t>{1, 2, 0}));
}

std::vector<std::size_t> best(const PredictReport& report) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < report.predictions.size(); ++i) {
    if (is_best(report.predictions, i)) all.push_back(i);
  }
  return all;
}

using Places = std::vector<std::size_t>;

TEST(PredictReport, TheBestIsWithoutHazardsFitsAndBeatsTheRecordedSchedule) {
  PredictReport report = sample_report();
  EXPECT_EQ(best(report), Places{}) << "base takes longer than what was recorded";
  report.predictions[0].speedup = 1.02;
  EXPECT_EQ(best(report), Places{0}) << "the faster one is hazardous";
  report.predictions[1].hazards.clear();
  EXPECT_EQ(best(report), Places{1}) << "no speed-up is known where the recorded schedule is not";
  report.predictions[1].memory = {{.allocated_peak = 2}, {.failure = "the lookup"}};
  EXPECT_EQ(best(report), Places{0}) << "the faster one does not fit on one of the ranks";
  report.predictions[1].memory.pop_back();
  EXPECT_EQ(best(report), Places{1});
  report.predictions.pop_back();
  EXPECT_EQ(best(report), Places{}) << "one alone is not chosen";
}

// The recorded schedule takes 34 ms; 1 % of that is 0.34 ms.
TEST(PredictReport, WhatPredictionsCannotTellApartIsEquallyGood) {
  PredictReport report = sample_report();
  report.predictions.clear();
  const auto add = [&](std::int64_t step_us) {
    Prediction& row = report.predictions.emplace_back();
    row.step_time_ns = step_us * 1000;
    row.speedup = 34'000.0 / static_cast<double>(step_us);
  };
  add(34'000);
  add(33'700);
  EXPECT_EQ(best(report), Places{}) << "0.9 % faster than what was recorded";
  add(33'000);
  EXPECT_EQ(best(report), Places{2}) << "the other is 2.1 % slower";
  add(33'300);
  EXPECT_EQ(best(report), (Places{2, 3}));
  add(32'980);
  EXPECT_EQ(best(report), (Places{2, 3, 4})) << "what is 0.06 % faster is not the only one to try";
  report.predictions.push_back(report.predictions.back());
  report.predictions.back().step_time_ns = 30'000'000;
  EXPECT_EQ(best(report), Places{5});
}

}  // namespace
}  // namespace interlace::report
