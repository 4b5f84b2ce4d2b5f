#include "simulator/cli/prediction_row.hpp"

#include <algorithm>

#include "simulator/analysis/host_blocking.hpp"
#include "simulator/check/schedule_check.hpp"
#include "simulator/cli/memory_rows.hpp"

namespace interlace::cli {

namespace {

void judge(const schedule::Schedule& schedule, report::Prediction& row) {
  const check::ScheduleCheck verdict = check::check(schedule, {.hazards_only = true});
  for (const check::Hazard& hazard : verdict.hazards) {
    row.hazards.push_back(std::string(to_string(hazard.kind)) + " of " + hazard.datum + ": " +
                          hazard.earlier.operation + " and " + hazard.later.operation +
                          " are not ordered (interlace check tells more)");
  }
  for (const check::Staleness& read : verdict.staleness) {
    auto& late = read.resource == "tables" ? row.tables_late : row.parameters_late;
    late = std::max(late.value_or(0), read.updates);
  }
}

}  // namespace

report::Prediction prediction_row(const schedule::Schedule& schedule, const replay::Prediction& prediction,
                                  const analysis::StepAnalysis& steps, const std::vector<std::string>& modules,
                                  const Diagnostics& assumptions) {
  report::Prediction row{.schedule = prediction.schedule,
                         .step_time_ns = prediction.step_time,
                         .step_time_low_ns = prediction.step_time_low,
                         .step_time_high_ns = prediction.step_time_high,
                         .speedup = std::nullopt,
                         .overlap = steps.overlap.mean,
                         .host_blocked_ns = analysis::total_blocked(steps.host_blocks),
                         .memory = memory_rows(prediction, modules),
                         .reasons = {},
                         .races = prediction.races,
                         .diagnostics = assumptions.entries(),
                         .hazards = {},
                         .tables_late = std::nullopt,
                         .parameters_late = std::nullopt};
  judge(schedule, row);
  return row;
}

}  // namespace interlace::cli
