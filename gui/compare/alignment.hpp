#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "simulator/base/interval.hpp"

namespace interlace::gui {

/// The step that is worth looking at first: the middle one, the earlier of two. None without steps.
[[nodiscard]] std::optional<std::size_t> middle_step(std::span<const Interval> steps);

/// The step `offset` behind the middle one, or the first or last one where there are not so many. None without steps.
[[nodiscard]] std::optional<Interval> step_at(std::span<const Interval> steps, std::ptrdiff_t offset);

/// Where time 0 belongs: the begin of that step; 0 of the trace without steps.
[[nodiscard]] Nanoseconds anchor_at_step(std::span<const Interval> steps, std::ptrdiff_t offset = 0);

/// A view of an axis from time 0 on, as long as this, with some of what is before and behind it.
[[nodiscard]] Interval view_from_zero(Nanoseconds length);

/// What to show of an axis at whose time 0 these parts of the two timelines begin: the longer one with some of what is
/// before and behind it. Without parts, the longer of the whole traces.
[[nodiscard]] Interval first_view(std::span<const Interval> parts, Nanoseconds longest_trace);

}  // namespace interlace::gui
