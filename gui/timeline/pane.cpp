#include "gui/timeline/pane.hpp"

#include <cmath>

namespace interlace::gui {

PaneAreas areas_of(const QRectF& pane) {
  const double plot_left = pane.left() + kLabelWidth;
  const double plot_width = pane.width() - kLabelWidth;
  const double steps_top = pane.top() + kTitleHeight;
  const double axis_top = steps_top + kStepsHeight;
  const double plot_top = axis_top + kAxisHeight;
  return {.title = {pane.left(), pane.top(), pane.width(), kTitleHeight},
          .steps = {plot_left, steps_top, plot_width, kStepsHeight},
          .axis = {plot_left, axis_top, plot_width, kAxisHeight},
          .labels = {pane.left(), plot_top, kLabelWidth, pane.bottom() - plot_top},
          .plot = {plot_left, plot_top, plot_width, pane.bottom() - plot_top}};
}

Hit hit_test(const PaneContent& content, double x, double y) {
  constexpr double kReach = 3;
  const Viewport view = content.trace_view();
  Hit hit{.row = std::nullopt, .operation = std::nullopt, .at = view.time_at(x)};
  const PlacedRow* row = content.placement->row_at(content.placement->placed_at(y, content.scroll));
  if (row == nullptr) return hit;
  hit.row = row->row;
  const auto within = static_cast<Nanoseconds>(std::ceil(kReach * view.ns_per_px));
  hit.operation = operation_at(content.scene->row(row->row), hit.at, within);
  return hit;
}

std::vector<RowIndex> rows_in_sight(const PaneContent& content, double height) {
  std::vector<RowIndex> rows;
  for (const PlacedRow& row : content.placement->rows) {
    const double top = content.shown_at(row.top);
    if (top + row.height > 0 && top < height) rows.push_back(row.row);
  }
  return rows;
}

}  // namespace interlace::gui
