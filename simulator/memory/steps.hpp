#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <vector>

#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/segment.hpp"

namespace interlace::memory {

/// The stage steps of a schedule in program order, loops over modules opened. They point into the schedule.
[[nodiscard]] std::vector<const schedule::StageStep*> stage_steps(const schedule::Schedule& schedule);

/// One run of a stage step: for all modules or, where the schedule runs it module by module, for one.
struct StepRun {
  std::size_t step = 0;  ///< in stage_steps()
  std::optional<stages::ModuleId> module;

  auto operator<=>(const StepRun&) const = default;
};
/// The run that a segment is part of; none where no step runs it, or the segment may be that of several steps.
[[nodiscard]] std::optional<StepRun> step_run_of(const schedule::Schedule& schedule, const stages::SegmentKey& segment);
/// Does the schedule run this step module by module?
[[nodiscard]] bool runs_by_module(const schedule::Schedule& schedule, const schedule::StageStep& step);

/// Does the step run this segment? Of whatever module, where the schedule is bound to no recording.
[[nodiscard]] bool runs_segment(const schedule::StageStep& step, const stages::SegmentKey& segment);
/// The first step that runs it; null where none does.
[[nodiscard]] const schedule::StageStep* step_of(const schedule::Schedule& schedule, const stages::SegmentKey& segment);

}  // namespace interlace::memory
