#pragma once

#include <vector>

#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/segment.hpp"

namespace interlace::memory {

/// The stage steps of a schedule in program order, loops over modules opened. They point into the schedule.
[[nodiscard]] std::vector<const schedule::StageStep*> stage_steps(const schedule::Schedule& schedule);

/// Does the step run this segment (of whatever module)?
[[nodiscard]] bool runs_segment(const schedule::StageStep& step, const stages::SegmentKey& segment);

}  // namespace interlace::memory
