#pragma once

#include <optional>

#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// Where a loop that keeps nothing longer than it must lets go of something that a batch has.
struct ReleasePoint {
  const StageStep* behind = nullptr;  ///< a step of the schedule; none: the end of the iteration that trains the batch

  bool operator==(const ReleasePoint&) const = default;
};

/// Behind the step that `frees` it; else behind the last one that touches it or, if that is later, the stage that
/// `kept_until` of a step that makes it names. None where no step touches it.
[[nodiscard]] std::optional<ReleasePoint> release_point(const Schedule& schedule, Resource resource);

/// Does a batch come to `a` later than to `b`?
[[nodiscard]] bool is_later(const Schedule& schedule, const ReleasePoint& a, const ReleasePoint& b);

}  // namespace interlace::schedule
