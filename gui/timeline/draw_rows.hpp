#pragma once

#include <QPainter>
#include <vector>

#include "gui/theme/theme.hpp"
#include "gui/timeline/boxes.hpp"
#include "gui/timeline/label_cache.hpp"
#include "gui/timeline/pane.hpp"

namespace interlace::gui {

/// A box of a row in sight: x from the left edge of the plot, y from its upper edge.
struct PlacedBox {
  Box box;
  trace::OperationId operation;
  double top = 0;
  double height = 0;
};

/// All boxes in sight on a plot of this height, row by row.
[[nodiscard]] std::vector<PlacedBox> boxes_in_sight(const PaneContent& content, double height);

/// The whole pixels that a box covers on a row from `top` to `top + height` of the plot: at least one, with a pixel
/// free between neighbours that are wide enough.
[[nodiscard]] QRect pixels_of(const Box& box, double top, double height, const QRectF& plot);

/// Draws the operations into the plot, the widest `kMostLabels` of them with their names. What the search found is
/// underlined.
void draw_rows(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme,
               LabelCache& labels);
inline constexpr std::size_t kMostLabels = 400;

/// The font of labels for a row of this height.
[[nodiscard]] QFont label_font(double row_height);

}  // namespace interlace::gui
