#include "simulator/analysis/step_window.hpp"

#include <cassert>

namespace interlace::analysis {

StepWindow window_of(std::span<const Interval> steps) {
  assert(!steps.empty());
  return {.span = {steps.front().begin, steps.back().end}, .steps = static_cast<std::int64_t>(steps.size())};
}

std::vector<StepWindow> whole_trace(const trace::Trace& trace) {
  return {trace.ranks().size(), StepWindow{.span = {0, trace.length()}, .steps = 1}};
}

}  // namespace interlace::analysis
