#pragma once

#include <QPainter>
#include <optional>
#include <string>
#include <vector>

#include "gui/theme/theme.hpp"
#include "gui/timeline/pane.hpp"
#include "simulator/analysis/idle_causes.hpp"
#include "simulator/graph/critical_path.hpp"

namespace interlace::gui {

// Why a step takes as long as it does: the critical path, and why devices idle. Both lie over the operations.

/// A stretch of a critical path in an operation, in pixels from the left edge of the plot.
struct PathMark {
  trace::OperationId operation;
  double left = 0;
  double right = 0;

  bool operator==(const PathMark&) const = default;
};

/// What of a path is in sight, by time. Of neighbours that are narrower than a pixel together only the longest is kept.
[[nodiscard]] std::vector<PathMark> path_marks(const graph::CriticalPath& path, const Viewport& trace_view);

/// A bar on each operation of the path, joined from one to the next.
void draw_critical_paths(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);

/// A band through the streams of a rank wherever its device does nothing, in the colour of the cause.
void draw_idle(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme);

/// Why the device of the rank at a point of the plot does nothing there; none where it is busy or bands are not shown.
[[nodiscard]] const analysis::IdlePiece* idle_at(const PaneContent& content, double x, double y);

/// "host blocked in input_dist_wait"
[[nodiscard]] std::string idle_text(const analysis::IdlePiece& piece);

/// The colours of idle bands.
[[nodiscard]] std::vector<ColourEntry> idle_legend(const Theme& theme);

}  // namespace interlace::gui
