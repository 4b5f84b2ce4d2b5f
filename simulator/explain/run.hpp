#pragma once

#include <cstddef>
#include <vector>

#include "simulator/base/error.hpp"
#include "simulator/base/interval.hpp"
#include "simulator/trace_check/staged_work.hpp"

namespace interlace::explain {

inline constexpr ErrorCode kNoSteps{"explain.no_steps"};

/// One of the two traces that are compared: what ran, which stage each work belongs to, and its training steps.
struct Run {
  const trace::Trace* trace = nullptr;
  const trace_check::StagedWork* staged = nullptr;
  /// By rank (Trace::ranks()): steps that follow one another, each from the end of one optimizer's last device work to
  /// that of the next. The steady ones, as all figures "a step" are of (analysis::steady_steps).
  std::vector<std::vector<Interval>> steps;
  std::size_t all_steps = 0;  ///< stalled ones and those beside them included; of the rank that has most
};

/// The steps of all ranks. Where no optimizer is known, those of the annotation that marks steps best
/// (analysis::find_steps). Throws Error(explain.no_steps) where a rank has not one whole step.
[[nodiscard]] Run run_of(const trace::Trace& trace, const trace_check::StagedWork& staged);

}  // namespace interlace::explain
