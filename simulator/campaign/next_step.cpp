#include "simulator/campaign/next_step.hpp"

#include <algorithm>

namespace interlace::campaign {

NextStep next_step(const Plan& plan, bool recorded, const PredictionFile* prediction, std::span<const MeasuredRun> runs,
                   std::span<const MeasuredTrace> traces) {
  using enum NextStep::Kind;
  if (!recorded) return {kRecord, plan.recorded, 0, 0};
  if (prediction == nullptr) return {kPredict, {}, 0, 0};
  const auto failed = [&](const std::string& schedule) {
    return std::ranges::any_of(runs, [&](const MeasuredRun& run) { return run.failure && run.schedule == schedule; });
  };
  const auto count = static_cast<std::int32_t>(prediction->schedules.size());
  for (std::int32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    for (std::int32_t position = 0; position < count; ++position) {
      const std::string& schedule =
          prediction->schedules[static_cast<std::size_t>((repeat + position) % count)].schedule;
      const bool done = std::ranges::any_of(
          runs, [&](const MeasuredRun& run) { return run.repeat == repeat && run.schedule == schedule; });
      if (!done && !failed(schedule)) return {kRun, schedule, repeat, position};
    }
  }
  if (plan.record_all) {
    for (const PredictedSchedule& one : prediction->schedules) {
      const bool done =
          std::ranges::any_of(traces, [&](const MeasuredTrace& trace) { return trace.schedule == one.schedule; });
      if (!done && !failed(one.schedule)) return {kRecordRun, one.schedule, 0, 0};
    }
  }
  return {kDone, {}, 0, 0};
}

}  // namespace interlace::campaign
