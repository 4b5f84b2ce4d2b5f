#include <ostream>
#include <utility>

#include "simulator/report/json_text.hpp"
#include "simulator/report/sweep_data.hpp"

namespace interlace::report {

namespace {

Json json_of_points(const SweepReport& report, std::size_t schedule) {
  Json points = Json::array();
  for (std::size_t i = 0; i < report.values.size(); ++i) {
    const Prediction& row = report.rows[i][schedule];
    points.push_back(Json{{"value", report.values[i]},
                          {"step_time_ns", row.step_time_ns},
                          {"step_time_low_ns", row.step_time_low_ns},
                          {"step_time_high_ns", row.step_time_high_ns},
                          {"speedup", or_null(row.speedup)},
                          {"exposed_communication_ns", row.overlap.exposed_communication_ns},
                          {"idle_ns", row.overlap.idle_ns},
                          {"host_blocked_ns", or_null(row.host_blocked_ns)},
                          {"fits", or_null(fits(row))},
                          {"fastest", is_among_fastest(report.rows[i], schedule)}});
  }
  return points;
}

Json json_of_schedule(const SweepReport& report, std::size_t schedule) {
  const auto value = [&](const std::optional<std::size_t>& which) {
    return which ? Json(report.values[*which]) : Json(nullptr);
  };
  const Prediction& row = report.rows.front()[schedule];
  const FlatEnds flat = flat_ends(report, schedule);
  return Json{{"schedule", row.schedule},
              {"recorded", is_recorded(report, schedule)},
              {"cost", report.costs[schedule]},
              {"flat_up_to", value(flat.up_to)},
              {"flat_from", value(flat.from)},
              {"hazards", row.hazards},
              {"known_hazards", row.known_hazards},
              {"tables_updates_late", or_null(row.tables_late)},
              {"dense_parameters_updates_late", or_null(row.parameters_late)},
              {"diagnostics", json_of(row.diagnostics)},
              {"points", json_of_points(report, schedule)}};
}

Json json_of_overtakings(const SweepReport& report) {
  Json all = Json::array();
  for (const Overtaking& one : overtakings(report)) {
    const std::vector<Prediction>& row = report.rows.front();
    all.push_back(Json{{"overtaken", row[one.overtaken].schedule},
                       {"by", row[one.by].schedule},
                       {"from", report.values[one.from]},
                       {"to", report.values[one.to]},
                       {"at", or_null(one.at)},
                       {"clear_from", report.values[one.clear_from]}});
  }
  return all;
}

}  // namespace

void write_sweep_json(std::ostream& out, const SweepReport& report) {
  Json schedules = Json::array();
  for (std::size_t i = 0; i < report.rows.front().size(); ++i) schedules.push_back(json_of_schedule(report, i));
  out << text_of(Json{{"recorded", json_of(report.recorded)},
                      {"swept",
                       {{"what", report.swept},
                        {"edit", report.edit},
                        {"unit", report.scale == SweepScale::kTimes ? "times" : "microseconds"},
                        {"values", report.values},
                        {"around", report.around}}},
                      {"schedules", std::move(schedules)},
                      {"overtakings", json_of_overtakings(report)},
                      {"left_out", json_of(report.skipped)}});
}

}  // namespace interlace::report
