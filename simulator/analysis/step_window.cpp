#include "simulator/analysis/step_window.hpp"

#include <cassert>

namespace interlace::analysis {

StepWindow window_of(std::span<const Interval> steps) {
  assert(!steps.empty());
  return {.span = {steps.front().begin, steps.back().end}, .steps = static_cast<std::int64_t>(steps.size())};
}

std::vector<StepWindow> windows_of(std::span<const std::vector<Interval>> steps_by_rank) {
  std::vector<StepWindow> windows;
  windows.reserve(steps_by_rank.size());
  for (const std::vector<Interval>& steps : steps_by_rank) windows.push_back(window_of(steps));
  return windows;
}

std::vector<StepWindow> whole_trace(const trace::Trace& trace) {
  return {trace.ranks().size(), StepWindow{.span = {0, trace.length()}, .steps = 1}};
}

}  // namespace interlace::analysis
