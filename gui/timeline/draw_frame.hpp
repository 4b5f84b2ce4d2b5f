#pragma once

#include <QPainter>

#include "gui/theme/theme.hpp"
#include "gui/timeline/pane.hpp"

namespace interlace::gui {

// What stands around and behind the operations of a pane.

/// Stripes behind the lanes, and the lines of the time axis.
void draw_background(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);
/// Names of lanes and ranks. A rank's bar goes over the plot, too.
void draw_lane_names(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme);
/// How many rows are not there, at the lower edge.
void draw_rows_cut(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme);
void draw_title(QPainter& painter, const PaneContent& content, const QRectF& area, const Theme& theme);
/// Times since the anchor.
void draw_axis(QPainter& painter, const PaneContent& content, const QRectF& area, const Theme& theme);
/// A bracket a training step with its length; the borders of steps go through the plot.
void draw_steps(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme);

}  // namespace interlace::gui
