#include "gui/timeline/draw_pane.hpp"

#include <cmath>

#include "gui/timeline/draw_frame.hpp"
#include "gui/timeline/draw_overlays.hpp"
#include "gui/timeline/draw_rows.hpp"
#include "gui/timeline/explanations.hpp"

namespace interlace::gui {

namespace {

/// The operations and all that lies on them; `clip`: the part of the plot that these lanes may cover.
void draw_lanes(QPainter& painter, const PaneContent& content, const QRectF& plot, const QRectF& clip,
                const Theme& theme, LabelCache& labels) {
  painter.setClipRect(clip);
  draw_background(painter, content, plot, theme);
  draw_rows(painter, content, plot, theme, labels);
  draw_idle(painter, content, plot, theme);
  draw_critical_paths(painter, content, plot, theme);
  draw_selection(painter, content, plot, theme);
}

/// Names of pinned lanes above those that scroll, with a line between.
void draw_names_of_parts(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme) {
  const QRectF all = areas.labels.united(areas.plot);
  const double border = areas.plot.top() + content.placement->pinned_height;
  PaneContent part = content;
  part.part = PanePart::kScrolled;
  painter.setClipRect(QRectF(QPointF(all.left(), border), all.bottomRight()));
  draw_lane_names(painter, part, areas, theme);
  part.part = PanePart::kPinned;
  painter.setClipRect(QRectF(all.topLeft(), QPointF(all.right(), border)));
  draw_lane_names(painter, part, areas, theme);
  painter.setClipRect(all);
  painter.setPen(QPen(theme.dim_text, 1));
  painter.drawLine(QPointF(all.left(), std::floor(border) - 1.5), QPointF(all.right(), std::floor(border) - 1.5));
}

}  // namespace

void draw_pane(QPainter& painter, const PaneContent& content, const QRectF& pane, const Theme& theme,
               LabelCache& labels) {
  const PaneAreas areas = areas_of(pane);
  painter.save();
  painter.setClipRect(pane);
  const double pinned = content.placement->pinned_height;
  if (pinned == 0) {
    draw_lanes(painter, content, areas.plot, areas.plot, theme, labels);
  } else {
    PaneContent part = content;
    part.part = PanePart::kScrolled;
    draw_lanes(painter, part, areas.plot, areas.plot.adjusted(0, pinned, 0, 0), theme, labels);
    part.part = PanePart::kPinned;
    draw_lanes(painter, part, areas.plot, QRectF(areas.plot.topLeft(), QSizeF(areas.plot.width(), pinned)), theme,
               labels);
  }
  painter.setClipRect(pane);
  draw_steps(painter, content, areas, theme);
  painter.setClipRect(areas.plot);
  draw_arrows(painter, content, areas.plot, theme);
  draw_range(painter, content, areas.plot, theme);
  if (pinned == 0) {
    painter.setClipRect(areas.labels.united(areas.plot));
    draw_lane_names(painter, content, areas, theme);
  } else {
    draw_names_of_parts(painter, content, areas, theme);
  }
  painter.setClipRect(areas.plot);
  draw_range_length(painter, content, areas.plot, theme);  // above the bars of ranks, which reach into the plot
  painter.setClipRect(pane);
  if (content.rows_cut > 0) draw_rows_cut(painter, content, areas, theme);
  draw_axis(painter, content, areas.axis, theme);
  draw_hits(painter, content, areas.axis, theme);
  draw_marks(painter, content, areas, theme);
  draw_title(painter, content, areas.title, theme);
  painter.restore();
}

}  // namespace interlace::gui
