#include "gui/timeline/explanations.hpp"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/timeline/draw_overlays.hpp"

namespace interlace::gui {

namespace {

using analysis::IdleCause;
using analysis::IdlePiece;

constexpr std::array<IdleCause, 5> kCauses = {IdleCause::kHostBlocked, IdleCause::kHostBusy, IdleCause::kLaunchLatency,
                                              IdleCause::kHeldBack, IdleCause::kUnknown};

QColor colour_of(const Theme& theme, IdleCause cause) { return theme.idle[static_cast<std::size_t>(cause)]; }

Rgb to_rgb(const QColor& colour) {
  return {static_cast<std::uint8_t>(colour.red()), static_cast<std::uint8_t>(colour.green()),
          static_cast<std::uint8_t>(colour.blue())};
}

/// The first piece that ends behind t.
std::vector<IdlePiece>::const_iterator first_behind(const std::vector<IdlePiece>& pieces, Nanoseconds t) {
  return std::ranges::upper_bound(pieces, t, {}, [](const IdlePiece& piece) { return piece.span.end; });
}

/// The stream lanes of a rank that are shown.
std::vector<const PlacedLane*> streams_of(const PaneContent& content, std::size_t rank) {
  std::vector<const PlacedLane*> streams;
  for (const PlacedLane& placed : content.placement->lanes) {
    const LaneRows& lane = content.scene->lanes().lanes[placed.lane];
    if (lane.use != LaneUse::kStream || !content.draws(placed.top)) continue;
    if (content.scene->trace().lane(lane.lane).rank.index() == rank) streams.push_back(&placed);
  }
  return streams;
}

/// In the first lane of the rank where the text fits into the band.
void label(QPainter& painter, const IdlePiece& piece, const QRectF& band, const Theme& theme) {
  constexpr double kLeastHeight = 9;
  if (band.height() < kLeastHeight) return;
  const QString text = QString::fromStdString(idle_text(piece));
  if (QFontMetricsF(painter.font()).horizontalAdvance(text) + 6 > band.width()) return;
  painter.setPen(theme.text);
  painter.drawText(band, Qt::AlignCenter, text);
}

}  // namespace

std::vector<PathMark> path_marks(const graph::CriticalPath& path, const Viewport& trace_view) {
  std::vector<PathMark> marks;
  const Interval shown = trace_view.visible();
  const auto end_of = [](const graph::PathStep& step) { return step.in.end; };
  for (auto step = std::ranges::lower_bound(path.steps, shown.begin, {}, end_of); step != path.steps.end(); ++step) {
    if (step->in.begin > shown.end) break;
    const PathMark mark{step->operation, trace_view.x_of(step->in.begin), trace_view.x_of(step->in.end)};
    if (marks.empty() || mark.right - marks.back().left >= 1) {
      marks.push_back(mark);
    } else if (mark.right - mark.left > marks.back().right - marks.back().left) {
      marks.back() = mark;
    }
  }
  return marks;
}

void draw_critical_paths(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  constexpr double kBar = 3.5;
  const Viewport view = content.trace_view();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  for (const graph::CriticalPath& path : content.critical) {
    QPainterPath joints;
    std::optional<QPointF> from;
    bool from_drawn = false;
    for (const PathMark& mark : path_marks(path, view)) {
      const auto place = place_of(content, mark.operation);
      if (!place) continue;
      const double y = plot.top() + place->box.bottom() - kBar / 2;
      const double left = plot.left() + std::clamp(mark.left, -4.0, plot.width() + 4);
      const double right = plot.left() + std::clamp(mark.right, -4.0, plot.width() + 4);
      if (place->drawn) {
        painter.fillRect(QRectF(left, y - kBar / 2, std::max(right - left, 1.0), kBar), theme.critical);
      }
      if (from && (place->drawn || from_drawn)) {
        joints.moveTo(*from);
        joints.lineTo(left, y);
      }
      from = QPointF(right, y);
      from_drawn = place->drawn;
    }
    painter.setPen(QPen(theme.critical, 1.2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(joints);
  }
  painter.restore();
}

void draw_idle(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  const Viewport view = content.trace_view();
  const Interval shown = view.visible();
  QFont font;
  font.setPixelSize(10);
  painter.setFont(font);
  for (std::size_t rank = 0; rank < content.idle.size(); ++rank) {
    const std::vector<const PlacedLane*> streams = streams_of(content, rank);
    const std::vector<IdlePiece>& pieces = content.idle[rank];
    double drawn_to = -1;
    auto piece = first_behind(pieces, shown.begin);
    while (piece != pieces.end() && piece->span.begin <= shown.end) {
      const double left = std::max(view.x_of(piece->span.begin), 0.0);
      const double right = std::min(view.x_of(piece->span.end), plot.width());
      // Bands narrower than a pixel: one a pixel is enough, however many there are.
      if (right < drawn_to + 0.5) {
        piece = std::max(piece + 1, first_behind(pieces, view.time_at(drawn_to + 0.5) - 1));
        continue;
      }
      drawn_to = std::max(right, left + 1);
      for (const PlacedLane* lane : streams) {
        const QRectF band(plot.left() + left, plot.top() + content.shown_at(lane->top), drawn_to - left, lane->height);
        painter.fillRect(band, colour_of(theme, piece->cause));
        if (lane == streams.front()) label(painter, *piece, band, theme);
      }
      ++piece;
    }
  }
}

const IdlePiece* idle_at(const PaneContent& content, double x, double y) {
  const PlacedLane* placed = content.placement->lane_at(content.placement->placed_at(y, content.scroll));
  if (placed == nullptr) return nullptr;
  const LaneRows& lane = content.scene->lanes().lanes[placed->lane];
  const std::size_t rank = content.scene->trace().lane(lane.lane).rank.index();
  if (lane.use != LaneUse::kStream || rank >= content.idle.size()) return nullptr;
  const Nanoseconds at = content.trace_view().time_at(x);
  const auto piece = first_behind(content.idle[rank], at);
  return piece != content.idle[rank].end() && piece->span.contains(at) ? &*piece : nullptr;
}

std::string idle_text(const IdlePiece& piece) {
  std::string text(to_string(piece.cause));
  if (!piece.stage.empty()) text += " in " + std::string(piece.stage);
  return text;
}

std::vector<ColourEntry> idle_legend(const Theme& theme) {
  std::vector<ColourEntry> entries;
  for (const IdleCause cause : kCauses) {
    const QColor seen = mixed(colour_of(theme, cause), theme.background, colour_of(theme, cause).alphaF());
    entries.push_back({"idle: " + std::string(to_string(cause)), to_rgb(seen), 1, true});
  }
  return entries;
}

}  // namespace interlace::gui
