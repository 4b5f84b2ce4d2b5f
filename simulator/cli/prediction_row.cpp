#include "simulator/cli/prediction_row.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "simulator/analysis/host_blocking.hpp"
#include "simulator/cli/memory_rows.hpp"

namespace interlace::cli {

namespace {

analysis::DeviceClass class_of(replay::WorkKind kind) {
  switch (kind) {
    case replay::WorkKind::kCollective: return analysis::DeviceClass::kCommunication;
    case replay::WorkKind::kHostCopy: return analysis::DeviceClass::kCopy;
    default: return analysis::DeviceClass::kCompute;
  }
}

/// By rank.
std::vector<analysis::OverlapSummary> overlap_in(const replay::PredictedRun& run, std::span<const std::string> labels) {
  std::vector<analysis::OverlapCount> counts;
  for (const std::vector<Interval>& steps : run.steps) counts.emplace_back(analysis::window_of(steps));
  for (const replay::PredictedRun::DeviceWork& work : run.works) {
    counts[work.rank].add(work.time, class_of(work.kind), labels[work.label]);
  }
  std::vector<analysis::OverlapSummary> summaries;
  for (analysis::OverlapCount& count : counts) summaries.push_back(std::move(count).summary());
  return summaries;
}

/// By place: calls that wait in the recording, and where the schedule makes the host wait.
std::vector<analysis::HostBlock> host_blocks_of(const replay::PredictedRuns& simulated, const trace::Trace& recorded) {
  std::map<std::pair<std::string_view, analysis::BlockKind>, analysis::HostBlock> places;
  double steps = 0;
  for (const replay::PredictedRun& run : simulated.runs)
    steps += run.iterations * static_cast<double>(run.steps.size());
  for (const replay::PredictedRun& run : simulated.runs) {
    for (const replay::PredictedRun::HostCall& call : run.calls) {
      const auto kind =
          call.recorded ? analysis::blocks_host(recorded, *call.recorded) : analysis::BlockKind::kEventSync;
      if (!kind) continue;
      const std::string_view stage = call.label ? std::string_view(simulated.labels[*call.label]) : std::string_view();
      analysis::HostBlock& place = places[{stage, *kind}];
      place.stage = stage;
      place.kind = *kind;
      place.blocked_ns += call.duration;
      place.calls += 1.0 / steps;
    }
  }
  std::vector<analysis::HostBlock> blocks;
  for (auto& [key, place] : places) {
    place.blocked_ns = std::llround(static_cast<double>(place.blocked_ns) / steps);
    blocks.push_back(std::move(place));
  }
  std::ranges::stable_sort(blocks, std::ranges::greater{}, &analysis::HostBlock::blocked_ns);
  return blocks;
}

std::string clash(const check::Hazard& hazard) {
  return std::string(to_string(hazard.kind)) + " of " + hazard.datum + ": " + hazard.earlier.operation + " and " +
         hazard.later.operation + " are not ordered";
}

void judge(const schedule::Schedule& schedule, check::CheckOptions checked, report::Prediction& row) {
  checked.hazards_only = true;
  const check::ScheduleCheck verdict = check::check(schedule, checked);
  for (const check::Hazard& hazard : verdict.hazards) {
    row.hazards.push_back(clash(hazard) + " (interlace check tells more)");
  }
  for (const check::Hazard& hazard : verdict.known_hazards) {
    row.known_hazards.push_back(clash(hazard) + " (interlace check tells why it stays)");
  }
  if (!schedule.caution.empty()) row.known_hazards.push_back(schedule.caution);
  for (const check::Staleness& read : verdict.staleness) {
    auto& late = read.resource == "tables" ? row.tables_late : row.parameters_late;
    late = std::max(late.value_or(0), read.updates);
  }
}

}  // namespace

analysis::OverlapOfRanks predicted_overlap(const replay::PredictedRuns& simulated) {
  std::vector<std::vector<analysis::OverlapSummary>> by_run(simulated.runs.size());
  tbb::parallel_for(std::size_t{0}, by_run.size(),
                    [&](std::size_t run) { by_run[run] = overlap_in(simulated.runs[run], simulated.labels); });
  std::vector<std::vector<analysis::OverlapSummary>> by_rank(simulated.runs.front().steps.size());
  for (const auto& of_run : by_run) {
    for (std::size_t rank = 0; rank < of_run.size(); ++rank) by_rank[rank].push_back(of_run[rank]);
  }
  analysis::OverlapOfRanks overlap;
  for (const auto& of_rank : by_rank) overlap.ranks.push_back(analysis::mean_of(of_rank));
  overlap.mean = analysis::mean_of(overlap.ranks);
  return overlap;
}

analysis::StepAnalysis analyse_prediction(const replay::Prediction& prediction, const trace::Trace& recorded) {
  const analysis::Annotations annotations(prediction.trace);
  return {predicted_overlap(prediction.simulated), host_blocks_of(prediction.simulated, recorded),
          analysis::stage_overlap(prediction.trace, annotations, analysis::windows_of(prediction.steps))};
}

report::Prediction prediction_row(const schedule::Schedule& schedule, const replay::Prediction& prediction,
                                  const analysis::StepAnalysis& steps, const std::vector<std::string>& modules,
                                  const Diagnostics& assumptions, check::CheckOptions checked) {
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
                         .known_hazards = {},
                         .tables_late = std::nullopt,
                         .parameters_late = std::nullopt};
  judge(schedule, checked, row);
  return row;
}

}  // namespace interlace::cli
