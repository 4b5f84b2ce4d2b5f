#include "simulator/campaign/next_step.hpp"

#include <algorithm>

namespace interlace::campaign {

NextStep next_step(const Plan& plan, const Progress& done) {
  using enum NextStep::Kind;
  if (done.prediction == nullptr) {
    const std::int32_t recordings = plan.recording ? 0 : plan.recordings;
    if (done.recordings < recordings) return {kRecord, plan.recorded, done.recordings, 0};
    const auto references = static_cast<std::int32_t>(done.references.size());
    if (references < plan.references) return {kReference, plan.recorded, references, 0};
    return {kPredict, {}, 0, 0};
  }
  const auto failed = [&](const std::string& schedule) {
    return std::ranges::any_of(done.runs,
                               [&](const MeasuredRun& run) { return run.failure && run.schedule == schedule; });
  };
  const std::vector<PredictedSchedule>& schedules = done.prediction->schedules;
  const auto count = static_cast<std::int32_t>(schedules.size());
  for (std::int32_t repeat = 0; repeat < plan.repeats; ++repeat) {
    for (std::int32_t position = 0; position < count; ++position) {
      const std::string& schedule = schedules[static_cast<std::size_t>((repeat + position) % count)].schedule;
      const bool has_run = std::ranges::any_of(
          done.runs, [&](const MeasuredRun& run) { return run.repeat == repeat && run.schedule == schedule; });
      if (!has_run && !failed(schedule)) return {kRun, schedule, repeat, position};
    }
  }
  for (std::int32_t repeat = 0; plan.record_all && repeat < plan.recordings; ++repeat) {
    for (const PredictedSchedule& one : schedules) {
      const bool has_trace = std::ranges::any_of(done.traces, [&](const MeasuredTrace& trace) {
        return trace.schedule == one.schedule && (trace.repeat == repeat || trace.failure);
      });
      if (!has_trace && !failed(one.schedule)) return {kRecordRun, one.schedule, repeat, 0};
    }
  }
  return {kDone, {}, 0, 0};
}

}  // namespace interlace::campaign
