#pragma once

#include <QPainter>
#include <string>
#include <utility>
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

/// The lead that holds at a point of the axis: of the last work that has ended there. Null before the first and behind
/// the last. leads: by `at`.
[[nodiscard]] const Lead* lead_at(const std::vector<Lead>& leads, Nanoseconds at);

/// How much the lead grows (< 0: shrinks) during the work of each stage: where time is won and lost. The largest change
/// first; what is below `least` is left out.
[[nodiscard]] std::vector<std::pair<std::string, Nanoseconds>> won_by_stage(const Run& measured,
                                                                            const std::vector<Lead>& leads,
                                                                            Nanoseconds least);

/// "3.21 ms ahead after ncclDevKernel_SendRecv of output_dist_wait"
[[nodiscard]] std::string lead_text(const Run& measured, const Lead& lead);

/// The lane that shows it, on the axis of the panes: above the middle ahead, below it behind. `area` has the same
/// columns as a pane.
void draw_difference(QPainter& painter, const std::vector<Lead>& leads, const Viewport& view, const QRectF& area,
                     const Theme& theme);
/// Its height where a timeline has so many pixels with all that belongs to it.
[[nodiscard]] double difference_height(double room);

}  // namespace interlace::gui
