#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// The steady-state part of one rank's timeline that results are taken over, and how many training steps it holds.
/// Functions that take a span of these expect one a rank of the trace, in the order of Trace::ranks(); `steps` >= 1.
/// Results "per step" are window totals divided by `steps`, rounded to the nearest nanosecond.
struct StepWindow {
  Interval span;
  std::int64_t steps = 1;

  bool operator==(const StepWindow&) const = default;
};

/// total / parts to the nearest nanosecond. parts >= 1, total >= 0.
[[nodiscard]] constexpr Nanoseconds divided(Nanoseconds total, std::int64_t parts) {
  return (total + parts / 2) / parts;
}

/// The steps between neighbouring bounds: one fewer than there are bounds, none of none.
[[nodiscard]] std::vector<Interval> steps_between(std::span<const Nanoseconds> bounds);

/// The window from the first of some steps that follow one another to the last, all of one rank, by time. Not empty.
[[nodiscard]] StepWindow window_of(std::span<const Interval> steps);
/// The same of every rank.
[[nodiscard]] std::vector<StepWindow> windows_of(std::span<const std::vector<Interval>> steps_by_rank);

/// The longest stretch of steps of which none stalled on any rank (statistics::stalls; the first of the longest ones):
/// where a host stood still for once, as while a profiler writes, a mean over all steps is that of no step. All steps
/// where ranks have different numbers of them.
[[nodiscard]] std::vector<std::vector<Interval>> steady_steps(std::span<const std::vector<Interval>> steps_by_rank);
/// The windows of these.
[[nodiscard]] std::vector<StepWindow> steady_windows_of(std::span<const std::vector<Interval>> steps_by_rank);

/// One window a rank that spans the whole trace and counts as one step: for traces in which no step is known.
[[nodiscard]] std::vector<StepWindow> whole_trace(const trace::Trace& trace);

}  // namespace interlace::analysis
