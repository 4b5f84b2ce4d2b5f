#include "gui/compare/alignment.hpp"

#include <algorithm>

namespace interlace::gui {

std::optional<std::size_t> middle_step(std::span<const Interval> steps) {
  if (steps.empty()) return std::nullopt;
  return (steps.size() - 1) / 2;
}

std::optional<Interval> step_at(std::span<const Interval> steps, std::ptrdiff_t offset) {
  const auto middle = middle_step(steps);
  if (!middle) return std::nullopt;
  const auto last = static_cast<std::ptrdiff_t>(steps.size()) - 1;
  const auto wanted = std::clamp(static_cast<std::ptrdiff_t>(*middle) + offset, std::ptrdiff_t{0}, last);
  return steps[static_cast<std::size_t>(wanted)];
}

Nanoseconds anchor_at_step(std::span<const Interval> steps, std::ptrdiff_t offset) {
  const auto step = step_at(steps, offset);
  return step ? step->begin : 0;
}

Interval view_from_zero(Nanoseconds length) { return {-length / 20, length + length / 20}; }

Interval first_view(std::span<const Interval> parts, Nanoseconds longest_trace) {
  Nanoseconds longest = 0;
  for (const Interval& part : parts) longest = std::max(longest, part.length());
  return longest == 0 ? Interval{0, longest_trace} : view_from_zero(longest);
}

}  // namespace interlace::gui
