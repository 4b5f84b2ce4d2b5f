#include "gui/timeline/draw_pane.hpp"

#include "gui/timeline/draw_frame.hpp"
#include "gui/timeline/draw_overlays.hpp"
#include "gui/timeline/draw_rows.hpp"
#include "gui/timeline/explanations.hpp"

namespace interlace::gui {

void draw_pane(QPainter& painter, const PaneContent& content, const QRectF& pane, const Theme& theme,
               LabelCache& labels) {
  const PaneAreas areas = areas_of(pane);
  painter.save();
  painter.setClipRect(pane);
  draw_background(painter, content, areas.plot, theme);
  painter.setClipRect(areas.plot);
  draw_rows(painter, content, areas.plot, theme, labels);
  draw_idle(painter, content, areas.plot, theme);
  draw_critical_paths(painter, content, areas.plot, theme);
  draw_selection(painter, content, areas.plot, theme);
  painter.setClipRect(pane);
  draw_steps(painter, content, areas, theme);
  painter.setClipRect(areas.plot);
  draw_arrows(painter, content, areas.plot, theme);
  draw_range(painter, content, areas.plot, theme);
  painter.setClipRect(areas.labels.united(areas.plot));
  draw_lane_names(painter, content, areas, theme);
  painter.setClipRect(pane);
  draw_axis(painter, content, areas.axis, theme);
  draw_hits(painter, content, areas.axis, theme);
  draw_marks(painter, content, areas, theme);
  draw_title(painter, content, areas.title, theme);
  painter.restore();
}

}  // namespace interlace::gui
