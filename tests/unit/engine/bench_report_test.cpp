#include "engine/report/bench_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace interlace::engine {
namespace {

TEST(BenchReport, QuantilesAreValuesThatWereMeasured) {
  EXPECT_EQ(quantile({3.0}, 0.5), 3.0);
  EXPECT_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 0.5), 2.0);  // two of four do not exceed it
  EXPECT_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 0.9), 4.0);  // 90 % of 4 are 3.6, so all four
  EXPECT_EQ(quantile({5.0, 1.0, 3.0, 2.0, 4.0}, 0.5), 3.0);
  EXPECT_EQ(quantile({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0}, 0.9), 9.0);
  EXPECT_EQ(quantile({2.0, 1.0}, 1.0), 2.0);
}

constexpr const char* kWritten =
    R"({"seconds": 0.25, "warmup": 1, "timed_steps": 2, "settings": {"NCCL_DEBUG": "WARN"},
    "tables": "ab", "losses": [0.5, null], "ranks": [
    {"peak_allocated_bytes": 10, "peak_reserved_bytes": 40, "step_ms": [9.0, 1.0, 2.0, 8.0]},
    {"peak_allocated_bytes": 20, "peak_reserved_bytes": 30, "step_ms": [9.0, 3.0, 4.0, 8.0]}],
    "validations": [{"passed": true}, {"passed": false}, {"passed": false}]})";

TEST(BenchReport, ReadsWhatRunWrites) {
  BenchLine line;
  take_run(line, kWritten);
  EXPECT_EQ(line.failure, "");
  ASSERT_EQ(line.runs.size(), 1U);
  const BenchRun& run = line.runs.front();
  EXPECT_EQ(run.seconds, 0.25);
  EXPECT_EQ(run.allocated, 20);
  EXPECT_EQ(run.reserved, 40);
  EXPECT_EQ(run.losses, (std::vector<std::optional<double>>{0.5, std::nullopt}));
  EXPECT_EQ(run.tables, "ab");
  EXPECT_EQ(run.step_ms, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(run.wrong_reads, 2);
  EXPECT_EQ(run.settings, (std::map<std::string, std::string>{{"NCCL_DEBUG", "WARN"}}));
}

// The runs before it were measured.
TEST(BenchReport, RunWhoseReportCannotBeReadIsAFailureOfItsLine) {
  const std::string written = kWritten;
  for (const std::string& other : {"NCCL version 2.28.9\n" + written, std::string("[]"), std::string(),
                                   R"({"seconds": 1.0, "warmup": 9)" + written.substr(written.find(", \"timed"))}) {
    BenchLine line;
    take_run(line, written);
    take_run(line, other);
    EXPECT_EQ(line.runs.size(), 1U) << other;
    EXPECT_EQ(line.failure.rfind("wrote no report of a run: ", 0), 0U) << other << line.failure;
  }
}

BenchReport report_of_two() {
  const auto run = [](double seconds, std::int64_t bytes, const std::string& tables) {
    return BenchRun{.seconds = seconds,
                    .step_ms = {7.0, 1e3 * seconds, 9.0},
                    .settings = {{"NCCL_P2P_DISABLE", "1"}},
                    .allocated = bytes,
                    .reserved = 2 * bytes,
                    .losses = {0.5},
                    .tables = tables};
  };
  return {.workload = "w",
          .device = "cpu",
          .steps = 4,
          .warmup = 3,
          .lines = {{"steady", {run(0.004, 1'000'000, "a"), run(0.002, 3'000'000, "a")}, ""},
                    {"loose", {run(0.001, 1'000'000, "a"), run(0.001, 1'000'000, "b")}, ""}}};
}

TEST(BenchReport, JsonHoldsEachRunAndItsQuantiles) {
  std::ostringstream out;
  write_json(out, report_of_two());
  const auto json = nlohmann::json::parse(out.str());
  const auto& steady = json.at("schedules").at(0);
  EXPECT_EQ(steady.at("runtime_ms"), (std::vector<double>{4.0, 2.0}));
  EXPECT_EQ(steady.at("runtime_ms_p50"), 2.0);
  EXPECT_EQ(steady.at("step_ms_p50"), 0.5);                                 // 4 steps
  EXPECT_EQ(steady.at("steady_step_ms"), (std::vector<double>{6.5, 5.5}));  // the mean of the two behind the first
  EXPECT_EQ(steady.at("runtime_ms_p90"), 4.0);
  EXPECT_EQ(steady.at("peak_allocated_bytes_p90"), 3'000'000);
  EXPECT_EQ(steady.at("peak_reserved_bytes_p90"), 6'000'000);
  EXPECT_EQ(steady.at("repeatable"), true);
  EXPECT_EQ(json.at("schedules").at(1).at("repeatable"), false);
  EXPECT_EQ(json.at("settings").at("NCCL_P2P_DISABLE"), "1");
}

TEST(BenchReport, ScheduleThatFailedIsALineThatSaysSo) {
  BenchReport report = report_of_two();
  report.lines.insert(report.lines.begin(), {.schedule = "never", .runs = {}, .failure = "ended with status 1"});
  report.lines.back().failure = "ended with status 2";
  std::ostringstream out;
  write_json(out, report);
  const auto schedules = nlohmann::json::parse(out.str()).at("schedules");
  EXPECT_EQ(schedules.at(0), (nlohmann::json{{"schedule", "never"}, {"failed", "ended with status 1"}}));
  EXPECT_FALSE(schedules.at(1).contains("failed"));
  EXPECT_EQ(schedules.at(2).at("failed"), "ended with status 2");
  EXPECT_EQ(schedules.at(2).at("runtime_ms").size(), 2U);
  std::ostringstream table;
  write_table(table, report);
  EXPECT_NE(table.str().find("never     ended with status 1\n"), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("  run 3 ended with status 2\n"), std::string::npos) << table.str();
}

TEST(BenchReport, MarksSchedulesThatReadWrongData) {
  BenchReport report = report_of_two();
  report.lines[0].runs[0].wrong_reads = 2;
  report.lines[0].runs[1].wrong_reads = 3;
  std::ostringstream out;
  write_json(out, report);
  const auto schedules = nlohmann::json::parse(out.str()).at("schedules");
  EXPECT_EQ(schedules.at(0).at("wrong_reads"), 5);
  EXPECT_EQ(schedules.at(1).at("wrong_reads"), 0);
  std::ostringstream table;
  write_table(table, report);
  const std::size_t mark = table.str().find("  5 reads of wrong data\nloose ");
  EXPECT_NE(mark, std::string::npos) << table.str();
  EXPECT_EQ(table.str().rfind("wrong data"), table.str().find("wrong data")) << table.str();
}

TEST(BenchReport, TableHasALineForEachSchedule) {
  std::ostringstream out;
  write_table(out, report_of_two());
  const std::string table = out.str();
  EXPECT_NE(table.find("w on cpu, 2 runs each of 4 steps after 3 to warm up"), std::string::npos) << table;
  EXPECT_NE(table.find("2.00 to 4.00"), std::string::npos) << table;
  const std::size_t loose = table.find("loose ");
  ASSERT_NE(loose, std::string::npos);
  EXPECT_GT(table.find("runs differ in their numbers"), loose);
}

}  // namespace
}  // namespace interlace::engine
