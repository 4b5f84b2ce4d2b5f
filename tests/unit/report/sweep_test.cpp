#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/report/sweep_data.hpp"
#include "simulator/report/sweep_table.hpp"
#include "tests/unit/report/markup_checker.hpp"

namespace interlace::report {
namespace {

/// Step times in ms, by value and schedule. Schedules are called a/one, a/two, ...; the first was recorded.
SweepReport sweep_of(std::vector<double> values, const std::vector<std::vector<double>>& steps_ms) {
  const std::vector<std::string> names{"a/one", "a/two", "a/three"};
  SweepReport report;
  report.recorded = {
      .files = {"r0.json.gz"}, .schedule = "a/one", .ranks = {0}, .steps = 3, .step_time_ns = 10'000'000};
  report.swept = "the host takes x times as long";
  report.edit = "host.json: edit 1";
  report.values = std::move(values);
  for (const std::vector<double>& steps : steps_ms) {
    std::vector<Prediction>& row = report.rows.emplace_back();
    for (const double ms : steps) {
      const Nanoseconds step = std::llround(ms * static_cast<double>(kMillisecond));
      row.push_back({.schedule = names[row.size()],
                     .step_time_ns = step,
                     .step_time_low_ns = step - 100'000,
                     .step_time_high_ns = step + 200'000});
    }
  }
  report.costs.assign(report.rows.front().size(), 0.123);
  return report;
}

std::string table_of(const SweepReport& report, std::size_t width = 100) {
  std::ostringstream out;
  write_sweep_table(out, report, TextStyle{.unicode = false, .width = width});
  return out.str();
}

// The second is 1 ms behind at 2 and 1 ms ahead at 8, so they meet half the way: of times at 5, of what times are one
// over at 1 / ((1/2 + 1/8) / 2) = 3.2.
TEST(Overtakings, LieWhereTheLinesCross) {
  const std::vector<Overtaking> all = overtakings(sweep_of({1, 2, 8}, {{10, 13}, {12, 13}, {15, 14}}));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].overtaken, 0U);
  EXPECT_EQ(all[0].by, 1U);
  EXPECT_EQ(all[0].from, 1U);
  EXPECT_EQ(all[0].to, 2U);
  EXPECT_EQ(all[0].clear_from, 2U);
  EXPECT_NEAR(all[0].at.value(), 5, 1e-9);
  SweepReport link = sweep_of({1, 2, 8}, {{10, 13}, {12, 13}, {15, 14}});
  link.is_bandwidth = true;
  EXPECT_NEAR(overtakings(link).at(0).at.value(), 3.2, 1e-9);
}

TEST(Overtakings, AreNoneWithinWhatPredictionsCanTell) {
  EXPECT_TRUE(overtakings(sweep_of({1, 2, 4}, {{10.05, 10}, {10, 10.05}, {10.05, 10}})).empty());
  // The first leads by too little to say so, and the second stays to the end.
  EXPECT_TRUE(overtakings(sweep_of({1, 2, 4}, {{10, 10.05}, {11, 10}, {12, 10}})).empty());
}

TEST(Overtakings, AreToldWithTheValueFromWhichTheyAreClear) {
  const std::vector<Overtaking> all = overtakings(sweep_of({1, 2, 4}, {{10, 11}, {10.05, 10}, {10.2, 10}}));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].to, 1U);
  EXPECT_EQ(all[0].clear_from, 2U);
}

TEST(Overtakings, AreNotOfWhatMayNotBeTaken) {
  SweepReport report = sweep_of({1, 2}, {{10, 12, 11}, {12, 10, 11}});
  for (std::vector<Prediction>& row : report.rows) row[1].hazards = {"read_before_write of kjt(i)"};
  const std::vector<Overtaking> all = overtakings(report);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].by, 2U);
  for (std::vector<Prediction>& row : report.rows) {
    for (Prediction& one : row) one.hazards = {"another"};
  }
  EXPECT_TRUE(overtakings(report).empty());
}

TEST(Overtakings, HaveNoCrossingWhereTheOtherNoLongerFits) {
  SweepReport report = sweep_of({1, 2}, {{10, 12}, {10, 12}});
  RankMemory full;
  full.failure = "needs more";
  report.rows[1][0].memory = {full};
  const std::vector<Overtaking> all = overtakings(report);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].at.has_value());
}

// A step of which half is swept: 1 % more of that costs half a percent. Of 10 us more 4 show in the step.
TEST(SweepCost, IsAnElasticityOrAShare) {
  EXPECT_NEAR(cost(SweepScale::kTimes, 1, 10'000'000, 1.0001, 10'000'500), 0.5, 1e-4);
  EXPECT_NEAR(cost(SweepScale::kTimes, 2, 20'000'000, 4, 10'000'000), -1, 1e-12);
  EXPECT_NEAR(cost(SweepScale::kMicroseconds, 100, 10'000'000, 110, 10'004'000), 0.4, 1e-12);
}

TEST(FlatEnds, AreWhereTheStepHardlyDependsOnIt) {
  const SweepReport report = sweep_of({0.5, 1, 2, 4}, {{10, 12, 5}, {10.01, 11, 6}, {10.02, 10, 7}, {14, 10.01, 8}});
  EXPECT_EQ(flat_ends(report, 0).up_to, 2U);
  EXPECT_EQ(flat_ends(report, 0).from, std::nullopt);
  EXPECT_EQ(flat_ends(report, 1).up_to, std::nullopt);
  EXPECT_EQ(flat_ends(report, 1).from, 2U);
  EXPECT_EQ(flat_ends(report, 2).up_to, std::nullopt);
  EXPECT_EQ(flat_ends(report, 2).from, std::nullopt);
}

// A hundredth of a percent a percent, over four hundred times as much.
TEST(FlatEnds, AreNotWhereALongRangeMakesADifference) {
  const SweepReport report = sweep_of({0.01, 4}, {{10, 10}, {11, 10.05}});
  EXPECT_EQ(flat_ends(report, 0).up_to, std::nullopt);
  EXPECT_EQ(flat_ends(report, 1).up_to, 1U);
}

// From one value to the next a tenth of a percent is noise; a slope adds up.
TEST(FlatEnds, AreNotMadeByCloseValues) {
  const SweepReport report =
      sweep_of({1, 1.001, 1.002, 1.003}, {{10, 10}, {10.005, 10.005}, {10, 10.01}, {10, 10.015}});
  EXPECT_EQ(flat_ends(report, 0).up_to, 3U);
  EXPECT_EQ(flat_ends(report, 1).up_to, 1U);
}

TEST(SweepTable, MarksTheFastestAndTellsWhatChanges) {
  const std::string expected =
      "recorded  a/one, 1 rank, 3 steps, 10.00 ms a step as recorded\n"
      "sweep     the host takes x times as long (host.json: edit 1)\n"
      "\n"
      "      x  one (recorded)      two\n"
      "    0.5         10.00 *  12.00\n"
      "      1         12.00    10.00 *\n"
      "1, +1 %         +0.12 %  +0.12 %\n"
      "\n"
      "    - between 0.5 and 1 (at about 0.75) two overtakes one\n";
  EXPECT_EQ(table_of(sweep_of({0.5, 1}, {{10, 12}, {12, 10}})), expected);
}

TEST(SweepTable, TurnsOverIntoBlocksWithoutLosingAColumn) {
  SweepReport report = sweep_of({0.5, 1}, {{10, 12, 11}, {12, 10, 11}});
  for (std::vector<Prediction>& row : report.rows) {
    row[1].schedule = "a/of_a_rather_long_name_that_takes_much_room";
    row[2].schedule = "b/of_a_rather_long_name_that_takes_much_room_";
  }
  const std::string text = table_of(report, 60);
  std::istringstream lines(text);
  std::size_t heads = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns_of(line), 60U) << line;
    heads += line.starts_with("      x  ") ? 1U : 0U;
  }
  EXPECT_EQ(heads, 3U) << text;
  EXPECT_NE(text.find("of_a_rather_long_name_that_takes_much_room\n"), std::string::npos) << text;
}

TEST(SweepTable, ShowsHazardsLatenessAndWhatIsLeftOut) {
  SweepReport report = sweep_of({1, 2}, {{10, 9}, {10, 9}});
  for (std::vector<Prediction>& row : report.rows) {
    row[1].hazards = {"read_before_write of kjt(i)"};
    row[1].tables_late = 1;
  }
  report.skipped = {{"a/four", "it has no optimizer"}};
  const std::string text = table_of(report);
  EXPECT_NE(text.find("9.00 x"), std::string::npos) << text;
  EXPECT_NE(text.find("x two: read_before_write of kjt(i)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("! two: reads tables 1 update late"), std::string::npos) << text;
  EXPECT_NE(text.find("left out, it has no optimizer: a/four\n"), std::string::npos) << text;
}

TEST(SweepNames, KeepTheirFoldersWhereTheyNeedThem) {
  SweepReport report = sweep_of({1}, {{10, 9, 8}});
  report.rows[0][2].schedule = "b/two";
  EXPECT_EQ(brief_names(report), (std::vector<std::string>{"one", "a/two", "b/two"}));
}

TEST(SweepJson, HoldsAllPointsAndChanges) {
  std::ostringstream out;
  write_sweep_json(out, sweep_of({0.5, 1}, {{10, 12}, {12, 10}}));
  const nlohmann::json json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["swept"]["unit"], "times");
  EXPECT_EQ(json["swept"]["values"], (std::vector<double>{0.5, 1}));
  ASSERT_EQ(json["schedules"].size(), 2U);
  EXPECT_EQ(json["schedules"][0]["recorded"], true);
  EXPECT_EQ(json["schedules"][1]["points"][1]["step_time_ns"], 10'000'000);
  EXPECT_EQ(json["schedules"][1]["points"][1]["fastest"], true);
  EXPECT_EQ(json["schedules"][1]["points"][0]["fastest"], false);
  EXPECT_EQ(json["schedules"][1]["flat_up_to"], nullptr);
  EXPECT_EQ(json["overtakings"][0]["by"], "a/two");
  EXPECT_EQ(json["overtakings"][0]["clear_from"], 1.0);
}

TEST(SweepCsv, HasALineAValueAndSchedule) {
  std::ostringstream out;
  write_sweep_csv(out, sweep_of({0.5, 1}, {{10, 12}, {12, 10}}));
  EXPECT_EQ(out.str(),
            "value,schedule,step_time_ns,step_time_low_ns,step_time_high_ns,speedup,exposed_communication_ns,idle_ns,"
            "host_blocked_ns,fits,fastest\r\n"
            "0.5,a/one,10000000,9900000,10200000,,0,0,,,yes\r\n"
            "0.5,a/two,12000000,11900000,12200000,,0,0,,,no\r\n"
            "1,a/one,12000000,11900000,12200000,,0,0,,,no\r\n"
            "1,a/two,10000000,9900000,10200000,,0,0,,,yes\r\n");
}

/// Of the lines of schedules, in their order: where each goes along the axis.
std::vector<double> steps_along(const std::string& svg) {
  const std::size_t line = svg.find("stroke-width=\"2\"");
  const std::string path = svg.substr(svg.find("d=\"M", line) + 4);
  std::istringstream points(path.substr(0, path.find('"')));
  std::vector<double> all;
  char letter = 0;
  for (double x = 0, y = 0; points >> x >> y; points >> letter) all.push_back(x);
  return all;
}

TEST(SweepPlot, IsMarkupWithALogarithmicAxisForRatios) {
  SweepReport report = sweep_of({1, 2, 8}, {{10, 12}, {11, 11}, {12, 10}});
  report.rows[0][1].schedule = "a/<two> & \"more\"";
  const std::string svg = sweep_plot(report);
  EXPECT_EQ(markup_problem(svg), std::nullopt);
  EXPECT_NE(svg.find("one (recorded)</text>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;two&gt; &amp; &quot;more&quot;</text>"), std::string::npos);
  const std::vector<double> ratios = steps_along(svg);
  ASSERT_EQ(ratios.size(), 3U);
  EXPECT_NEAR((ratios[1] - ratios[0]) / (ratios[2] - ratios[0]), 1.0 / 3, 0.001);
  report.scale = SweepScale::kMicroseconds;
  const std::vector<double> steps = steps_along(sweep_plot(report));
  EXPECT_NEAR((steps[1] - steps[0]) / (steps[2] - steps[0]), 1.0 / 7, 0.001);
}

// The lines end in one point; their names may not.
TEST(SweepPlot, KeepsNamesApart) {
  const std::string svg = sweep_plot(sweep_of({1, 2}, {{10, 10, 10}, {11, 11, 11}}));
  std::vector<double> heights;
  for (const std::string name : {">one (recorded)<", ">two<", ">three<"}) {
    const std::size_t y = svg.rfind("y=\"", svg.find(name));
    heights.push_back(std::stod(svg.substr(y + 3)));
  }
  std::ranges::sort(heights);
  EXPECT_GE(heights[1] - heights[0], 12);
  EXPECT_GE(heights[2] - heights[1], 12);
}

TEST(SweepPlot, TakesASingleValue) {
  const std::string svg = sweep_plot(sweep_of({1}, {{10, 12}}));
  EXPECT_EQ(markup_problem(svg), std::nullopt);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace interlace::report
