#pragma once

#include <QPainter>
#include <string>
#include <vector>

#include "gui/compare/aligned.hpp"
#include "gui/compare/match.hpp"
#include "gui/theme/theme.hpp"
#include "gui/timeline/viewport.hpp"

namespace interlace::gui {

/// How far a prediction is ahead of the recording when a piece of work ends.
struct Lead {
  Nanoseconds at = 0;     ///< when the measured work ends, since time 0 of its axis
  Nanoseconds ahead = 0;  ///< how much earlier the predicted work ends, since time 0 of its own; < 0: later
  trace::OperationId measured;

  bool operator==(const Lead&) const = default;
};

/// The lead over what is aligned, on the main stream of the first rank: it rises where the prediction wins time and
/// falls where it loses some; at the end of a step it is what the step gets shorter. By `at`. Work that only one of the
/// two does in its stretch is left out: a prediction may have it in the step before.
[[nodiscard]] std::vector<Lead> leads(const Run& measured, const Aligned& measured_part, const Run& predicted,
                                      const Aligned& predicted_part, const Matching& matching);

/// The lane that shows it, on the axis of the panes: above the middle ahead, below it behind. `area` has the same
/// columns as a pane.
void draw_difference(QPainter& painter, const std::vector<Lead>& leads, const Viewport& view, const QRectF& area,
                     const Theme& theme);
inline constexpr double kDifferenceHeight = 50;

}  // namespace interlace::gui
