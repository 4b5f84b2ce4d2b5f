#include "simulator/analysis/step_window.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "simulator/base/statistics.hpp"

namespace interlace::analysis {

std::vector<Interval> steps_between(std::span<const Nanoseconds> bounds) {
  std::vector<Interval> steps;
  for (std::size_t i = 1; i < bounds.size(); ++i) steps.push_back({bounds[i - 1], bounds[i]});
  return steps;
}

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

std::vector<std::vector<Interval>> steady_steps(std::span<const std::vector<Interval>> steps_by_rank) {
  const std::size_t count = steps_by_rank.empty() ? 0 : steps_by_rank.front().size();
  const auto as_many = [&](const std::vector<Interval>& steps) { return steps.size() == count; };
  if (count == 0 || !std::ranges::all_of(steps_by_rank, as_many)) return {steps_by_rank.begin(), steps_by_rank.end()};
  std::vector<double> times(count, 0.0);
  for (const std::vector<Interval>& steps : steps_by_rank) {
    for (std::size_t i = 0; i < count; ++i) times[i] = std::max(times[i], static_cast<double>(steps[i].length()));
  }
  const std::vector<bool> stalled = statistics::stalls(times);
  std::size_t first = 0;
  std::size_t longest = 0;
  std::size_t length = 0;
  for (std::size_t i = 0; i < count; ++i) {
    length = stalled[i] ? 0 : length + 1;
    if (length > longest) {
      longest = length;
      first = i + 1 - length;
    }
  }
  std::vector<std::vector<Interval>> steady;
  steady.reserve(steps_by_rank.size());
  for (const std::vector<Interval>& steps : steps_by_rank) {
    const auto stretch = std::span(steps).subspan(first, longest);
    steady.emplace_back(stretch.begin(), stretch.end());
  }
  return steady;
}

std::vector<StepWindow> steady_windows_of(std::span<const std::vector<Interval>> steps_by_rank) {
  return windows_of(steady_steps(steps_by_rank));
}

std::vector<StepWindow> whole_trace(const trace::Trace& trace) {
  return {trace.ranks().size(), StepWindow{.span = {0, trace.length()}, .steps = 1}};
}

}  // namespace interlace::analysis
