#pragma once

#include <QPainter>

#include "gui/theme/theme.hpp"
#include "gui/timeline/pane.hpp"

namespace interlace::gui {

// What stands over the operations of a pane.

/// A tick on the axis where found operations start, also those too short to be seen.
void draw_hits(QPainter& painter, const PaneContent& content, const QRectF& axis, const Theme& theme);
/// The measured range.
void draw_range(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);
/// How long it is, at the top of the plot.
void draw_range_length(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);
void draw_marks(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme);
/// Outlines of the selected operation, of the counterpart of the other pane's, and of the hovered one.
void draw_selection(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);
void draw_arrows(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);

/// Where an operation stands, from the upper left corner of the plot.
struct OperationPlace {
  QRectF box;
  bool pinned = false;  ///< on a lane that does not scroll
  bool drawn = true;    ///< of the part that is drawn
};
/// On its own row, or the nearest row of its lane that is shown. None where its rank is folded.
[[nodiscard]] std::optional<OperationPlace> place_of(const PaneContent& content, trace::OperationId op);

}  // namespace interlace::gui
