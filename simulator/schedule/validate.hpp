#pragma once

#include <vector>

#include "simulator/schedule/problem.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// What makes a schedule of well-formed steps unusable:
/// - a stage placed twice, or not at all though another needs it, or started and never awaited;
/// - a stage that would run before, in host order, the stage that makes what it reads: a stage of batch i+n runs n
///   iterations ahead, so what it reads must come from a step of a farther batch, or of the same batch placed above it;
/// - backward in parts of which one is missing;
/// - a wait for an event that no step records, or that is recorded later.
/// Whether the *streams* are ordered too (races, lifetimes) is for simulator/check. Requires valid stream indices.
/// Sorted by line.
[[nodiscard]] std::vector<Problem> find_problems(const Schedule& schedule);

/// Throws InvalidSchedule where find_problems() finds any.
void validate(const Schedule& schedule);

}  // namespace interlace::schedule
