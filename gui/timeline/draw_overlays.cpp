#include "gui/timeline/draw_overlays.hpp"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

namespace {

using trace::OperationId;

constexpr std::size_t kMostArrows = 200;

void outline(QPainter& painter, const PaneContent& content, OperationId op, const QRectF& plot, const QColor& colour,
             double width, Qt::PenStyle style = Qt::SolidLine) {
  const auto place = place_of(content, op);
  if (!place || !place->drawn) return;
  QRectF box = place->box.translated(plot.topLeft());
  box = box.adjusted(-0.5, -0.5, 0.5, -0.5);
  if (box.width() < 3) box.adjust(-1, 0, 3 - box.width(), 0);
  box = box.intersected(plot.adjusted(-4, -4, 4, 4));
  painter.setPen(QPen(colour, width, style));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box);
}

/// The ends of an arrow: what begins begins at its start, what must be over ends at its end.
std::optional<std::pair<QPointF, QPointF>> ends_of(const PaneContent& content, const Dependency& arrow) {
  const auto from = place_of(content, arrow.from);
  const auto to = place_of(content, arrow.to);
  if (!from || !to) return std::nullopt;
  const bool leaves_at_end = arrow.kind == DependencyKind::kEvent || arrow.kind == DependencyKind::kHostWait ||
                             arrow.kind == DependencyKind::kHandoff || arrow.kind == DependencyKind::kBackward;
  const bool arrives_at_end = arrow.kind == DependencyKind::kHostWait;
  // What has been scrolled away under pinned lanes is pointed at by their lower edge.
  const auto y_of = [&](const OperationPlace& place) {
    return place.pinned ? place.box.center().y() : std::max(place.box.center().y(), content.placement->pinned_height);
  };
  return std::pair(QPointF(leaves_at_end ? from->box.right() : from->box.left(), y_of(*from)),
                   QPointF(arrives_at_end ? to->box.right() : to->box.left(), y_of(*to)));
}

void draw_arrow(QPainter& painter, QPointF from, QPointF to, const QPen& pen) {
  constexpr double kHead = 5;
  const double bend = std::clamp(std::abs(to.x() - from.x()) / 2, 14.0, 80.0);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(pen);
  painter.drawPath(path);
  QPolygonF head;
  head << to << to + QPointF(-kHead * 1.4, -kHead * 0.7) << to + QPointF(-kHead * 1.4, kHead * 0.7);
  painter.setPen(Qt::NoPen);
  painter.setBrush(pen.color());
  painter.drawPolygon(head);
}

/// Where the measured range lies. REQUIRES: there is one.
QRectF band_of(const PaneContent& content, const QRectF& plot) {
  const Viewport view = content.trace_view();
  const double left = std::clamp(view.x_of(content.range->span.begin), -2.0, plot.width() + 2);
  const double right = std::clamp(view.x_of(content.range->span.end), -2.0, plot.width() + 2);
  return {plot.left() + left, plot.top(), right - left, plot.height()};
}

}  // namespace

std::optional<OperationPlace> place_of(const PaneContent& content, OperationId op) {
  const trace::Trace& trace = content.scene->trace();
  const auto row = row_of(content.scene->lanes(), trace, op);
  if (!row) return std::nullopt;
  const PlacedRow* placed = nullptr;
  for (const PlacedRow& candidate : content.placement->rows) {
    if (content.scene->row(candidate.row).lane != trace.lane_of(op)) continue;
    if (candidate.row <= *row) placed = &candidate;
  }
  if (placed == nullptr) return std::nullopt;
  const Viewport view = content.trace_view();
  const double left = view.x_of(trace.start(op));
  return OperationPlace{
      QRectF(left, content.shown_at(placed->top), view.x_of(trace.end(op)) - left, placed->height - 1),
      content.placement->is_pinned(placed->top), content.draws(placed->top)};
}

void draw_hits(QPainter& painter, const PaneContent& content, const QRectF& axis, const Theme& theme) {
  if (content.hits == nullptr) return;
  const trace::Trace& trace = content.scene->trace();
  const Viewport view = content.trace_view();
  const std::vector<OperationId>& hits = content.hits->operations();
  auto next = hits.begin();
  for (int pixel = 0; pixel < static_cast<int>(axis.width()); ++pixel) {
    const auto start = [&](OperationId op) { return trace.start(op); };
    next = std::ranges::lower_bound(next, hits.end(), view.time_at(pixel), {}, start);
    if (next == hits.end()) break;
    if (trace.start(*next) >= view.time_at(pixel + 1)) continue;
    painter.fillRect(QRectF(axis.left() + pixel, axis.bottom() - 4, 2, 4), theme.hit);
  }
}

void draw_range(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  if (!content.range) return;
  const QRectF band = band_of(content, plot);
  painter.fillRect(band, theme.range);
  QColor edge = theme.range;
  edge.setAlpha(255);
  painter.setPen(edge);
  painter.drawLine(band.topLeft(), band.bottomLeft());
  painter.drawLine(band.topRight(), band.bottomRight());
}

void draw_range_length(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  if (!content.range) return;
  const QRectF band = band_of(content, plot);
  QColor edge = theme.range;
  edge.setAlpha(255);
  QFont font;
  font.setPixelSize(12);
  font.setBold(true);
  const QString text = QString::fromStdString(duration_text(content.range->span.length()));
  const double width = QFontMetricsF(font).horizontalAdvance(text) + 12;
  const double middle = std::clamp(band.center().x(), plot.left() + width / 2, plot.right() - width / 2);
  const QRectF box(middle - width / 2, plot.top() + 3, width, 18);
  painter.fillRect(box, edge);
  painter.setFont(font);
  painter.setPen(text_on(edge));
  painter.drawText(box, Qt::AlignCenter, text);
}

void draw_marks(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme) {
  const Viewport view = content.trace_view();
  QFont font;
  font.setPixelSize(10);
  for (const Mark& mark : content.marks) {
    const double x = view.x_of(mark.at);
    if (x < 0 || x > areas.plot.width()) continue;
    const double at = std::floor(areas.plot.left() + x) + 0.5;
    painter.setPen(QPen(theme.hit, 1));
    painter.drawLine(QPointF(at, areas.axis.top()), QPointF(at, areas.plot.bottom()));
    const QString text = QString::fromStdString(mark.text);
    const double width = QFontMetricsF(font).horizontalAdvance(text) + 8;
    const QRectF flag(at, areas.axis.top() + 1, width, 13);
    painter.fillRect(flag, theme.hit);
    painter.setFont(font);
    painter.setPen(text_on(theme.hit));
    painter.drawText(flag, Qt::AlignCenter, text);
  }
}

void draw_selection(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  if (content.hovered && content.hovered != content.selected) {
    outline(painter, content, *content.hovered, plot, theme.dim_text, 1);
  }
  if (content.counterpart) outline(painter, content, *content.counterpart, plot, theme.selection, 2, Qt::DashLine);
  if (content.selected) outline(painter, content, *content.selected, plot, theme.selection, 2);
}

void draw_arrows(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  std::size_t drawn = 0;
  for (const Dependency& arrow : content.arrows) {
    if (++drawn > kMostArrows) break;
    const auto ends = ends_of(content, arrow);
    if (!ends) continue;
    QPen pen(arrow.to == content.selected ? theme.depends_on : theme.needed_by, 1.6);
    if (arrow.kind == DependencyKind::kCollectivePeer) pen.setStyle(Qt::DashLine);
    draw_arrow(painter, ends->first + plot.topLeft(), ends->second + plot.topLeft(), pen);
  }
  painter.restore();
}

}  // namespace interlace::gui
