#pragma once

#include <QPainter>

#include "gui/theme/theme.hpp"
#include "gui/timeline/label_cache.hpp"
#include "gui/timeline/pane.hpp"

namespace interlace::gui {

/// Draws a whole pane: the one way in which timelines get onto the screen and into files. `labels` is the cache of the
/// same trace.
void draw_pane(QPainter& painter, const PaneContent& content, const QRectF& pane, const Theme& theme,
               LabelCache& labels);

}  // namespace interlace::gui
