#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

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
TEST(PredictTable, FitsTheTerminalAndMarksTheFastest) {
  const std::string expected =
      "recorded  torchrec/sparse_dist, 2 of 2 ranks, 3 steps, 34.10 ms a step as recorded, 34.00 ms\n"
      "          replayed\n"
      "\n"
      "schedule         step ms        p10 - p90  speed-up  32.00                                     37.00\n"
      "mine, \"v2\"    *    32.00    32.00 - 32.00         -  o\n"
      "    exposed communication 0.00 ms, device idle 1.00 ms\n"
      "torchrec/base      36.00    35.50 - 37.00    0.944x                                  |----o--------|\n"
      "    exposed communication 6.00 ms (25 % hidden), device idle 0.90 ms, host blocked 5.25 ms\n"
      "    - exposes 4.0 ms more communication\n"
      "    - host now blocks \"long\", 3.2 ms\n"
      "    ! gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms\n"
      "\n"
      "left out, the recording has no stage prefetch: torchrec/prefetch_sparse_dist, torchrec/other\n";
  EXPECT_EQ(text_of(write_predict_table, sample_report(), TextStyle{.unicode = false}), expected);
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
  EXPECT_EQ(text_of(write_predict_table, sample_report(), TextStyle{}).find('\x1b'), std::string::npos);
  EXPECT_NE(text_of(write_predict_table, sample_report(), TextStyle{.colour = true}).find("\x1b[1;32m"),
            std::string::npos);
}

TEST(PredictJson, HasTheAgreedKeys) {
  const auto json = nlohmann::ordered_json::parse(text_of(write_predict_json, sample_report()));
  const auto keys = [](const nlohmann::ordered_json& object) {
    std::vector<std::string> all;
    for (const auto& [key, value] : object.items()) all.push_back(key);
    return all;
  };
  EXPECT_EQ(keys(json), (std::vector<std::string>{"recorded", "predictions"}));
  ASSERT_EQ(json["predictions"].size(), 2U);
  const auto& base = json["predictions"][0];
  EXPECT_EQ(keys(base),
            (std::vector<std::string>{"schedule", "step_time_ns", "step_time_low_ns", "step_time_high_ns", "speedup",
                                      "overlap", "exposed_communication_ns", "reasons", "diagnostics"}));
  EXPECT_EQ(base["step_time_ns"], 36'000'000);
  EXPECT_DOUBLE_EQ(base["speedup"].get<double>(), 34.0 / 36.0);
  EXPECT_EQ(base["exposed_communication_ns"], 6'000'000);
  EXPECT_EQ(base["overlap"]["communication_hidden_ratio"], 0.25);
  EXPECT_EQ(base["overlap"]["host_blocked_ns"], 5'250'000);
  EXPECT_EQ(base["reasons"][2], "gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms");  // races come last
  EXPECT_EQ(base["diagnostics"][0]["severity"], "warning");
  EXPECT_TRUE(json["predictions"][1]["speedup"].is_null());
  EXPECT_TRUE(json["predictions"][1]["overlap"]["communication_hidden_ratio"].is_null());
  EXPECT_EQ(json["recorded"]["schedule"], "torchrec/sparse_dist");
  EXPECT_EQ(json["recorded"]["ranks"], (std::vector<int>{0, 1}));
  EXPECT_EQ(json["recorded"]["diagnostics"][0]["count"], 1234);
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
      "host_blocked_ns,reasons,diagnostics\r\n"
      "torchrec/base,36000000,35500000,37000000,0.944444,6000000,30000000,8000000,2000000,2000000,1000000,900000,,,"
      "5250000,\"exposes 4.0 ms more communication; host now blocks \"\"long\"\", 3.2 ms; "
      "gemm races ncclDevKernel_SendRecv: 36.6 or 40.1 ms\",replay.assumed\r\n"
      "\"mine, \"\"v2\"\"\",32000000,32000000,32000000,,0,31000000,0,0,0,0,1000000,,,,,\r\n";
  EXPECT_EQ(text_of(write_predict_csv, sample_report()), expected);
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
}

TEST(PredictReport, OrdersByStepTime) {
  PredictReport report = sample_report();
  EXPECT_EQ(fastest(report), 1U);
  report.predictions.push_back(report.predictions[1]);
  EXPECT_EQ(by_step_time(report), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_FALSE(fastest(PredictReport{}).has_value());
}

}  // namespace
}  // namespace interlace::report
