#include "gui/timeline/draw_frame.hpp"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <vector>

#include "gui/theme/font.hpp"
#include "gui/timeline/names.hpp"
#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

namespace {

constexpr double kLabelsApart = 110;
constexpr double kTextInset = 8;

/// Draws `text` cut to fit, and returns where it ends.
double draw_text(QPainter& painter, const QFont& font, const QColor& colour, const QRectF& area, const QString& text,
                 Qt::TextElideMode cut = Qt::ElideRight) {
  const QFontMetricsF metrics(font);
  const QString fitting = metrics.elidedText(text, cut, area.width());
  painter.setFont(font);
  painter.setPen(colour);
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, fitting);
  return area.left() + metrics.horizontalAdvance(fitting);
}

QString rank_title(const trace::Trace& trace, trace::RankId id) {
  const trace::Rank& rank = trace.ranks()[id.index()];
  QString text = QStringLiteral("rank %1").arg(rank.number);
  if (!rank.devices.empty() && !rank.devices.front().name.empty()) {
    text += QStringLiteral("  ·  ") + QString::fromStdString(rank.devices.front().name);
  }
  if (!rank.source.empty()) text += QStringLiteral("  ·  ") + QString::fromStdString(file_name(rank.source));
  return text;
}

void draw_triangle(QPainter& painter, double x, double y, bool open, const QColor& colour) {
  const double r = 3.2;
  QPolygonF shape;
  if (open) {
    shape << QPointF(x - r, y - r / 2) << QPointF(x + r, y - r / 2) << QPointF(x, y + r / 1.3);
  } else {
    shape << QPointF(x - r / 2, y - r) << QPointF(x + r / 1.3, y) << QPointF(x - r / 2, y + r);
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawPolygon(shape);
  painter.restore();
}

/// A pinned lane stands apart from its rank.
QString title_of(const PaneContent& content, const PlacedLane& placed) {
  const LaneRows& lane = content.scene->lanes().lanes[placed.lane];
  const QString title = QString::fromStdString(lane.title);
  const trace::Trace& trace = content.scene->trace();
  if (!content.placement->is_pinned(placed.top) || trace.ranks().size() == 1) return title;
  return QStringLiteral("r%1 %2").arg(trace.ranks()[trace.lane(lane.lane).rank.index()].number).arg(title);
}

void draw_lane_name(QPainter& painter, const PaneContent& content, const PlacedLane& placed, const QRectF& labels,
                    const Theme& theme) {
  constexpr double kFold = 13;
  constexpr double kLine = 14;
  constexpr double kIndent = 22;
  constexpr double kLeastForText = 8;
  if (placed.height < kLeastForText) return;
  const LaneRows& lane = content.scene->lanes().lanes[placed.lane];
  const double top = labels.top() + content.shown_at(placed.top);
  const double line = std::min(kLine, placed.height);
  const int pixels = std::clamp(static_cast<int>(std::lround(line * 0.82)), 8, 11);
  const bool roomy = placed.height >= 2 * line;
  const double first = roomy ? top + 1 : top + (placed.height - line) / 2;
  const QRectF area(labels.left() + kIndent, first, labels.width() - kIndent - 4, line);
  if (placed.rows_left_out > 0) draw_triangle(painter, labels.left() + kFold, first + line / 2, false, theme.dim_text);
  const double end =
      draw_text(painter, sized(pixels, lane.use == LaneUse::kStream || lane.use == LaneUse::kMainThread),
                lane.use == LaneUse::kOtherThread ? theme.dim_text : theme.text, area, title_of(content, placed));
  QString remark = QString::fromStdString(lane.remark);
  if (placed.rows_left_out > 0) {
    if (!remark.isEmpty()) remark += QStringLiteral(", ");
    remark += placed.rows_left_out == 1 ? QStringLiteral("1 more row")
                                        : QStringLiteral("%1 more rows").arg(placed.rows_left_out);
  }
  if (remark.isEmpty()) return;
  const QRectF rest = roomy ? area.translated(0, line) : QRectF(end + 6, first, labels.right() - end - 10, line);
  if (rest.width() > 20) draw_text(painter, sized(std::max(8, pixels - 1)), theme.dim_text, rest, remark);
}

}  // namespace

void draw_background(QPainter& painter, const PaneContent& content, const QRectF& plot, const Theme& theme) {
  painter.fillRect(plot, theme.background);
  bool striped = true;
  for (const PlacedLane& lane : content.placement->lanes) {
    const double top = plot.top() + content.shown_at(lane.top);
    if (striped && content.draws(lane.top))
      painter.fillRect(QRectF(plot.left(), top - 2, plot.width(), lane.height + 3), theme.lane);
    striped = !striped;
  }
  for (const Tick& tick : ticks(content.view, kLabelsApart)) {
    if (tick.label.empty()) continue;
    const double x = std::floor(plot.left() + content.view.x_of(tick.at)) + 0.5;
    painter.setPen(theme.faint_line);
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  }
}

void draw_lane_names(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme) {
  painter.fillRect(areas.labels, theme.strip);
  for (const PlacedLane& lane : content.placement->lanes) {
    if (content.draws(lane.top)) draw_lane_name(painter, content, lane, areas.labels, theme);
  }
  for (const PlacedRank& rank : content.placement->ranks) {
    if (!content.draws(rank.top)) continue;
    const double top = areas.plot.top() + content.shown_at(rank.top);
    const QRectF bar(areas.labels.left(), top, areas.labels.width() + areas.plot.width(), rank.height);
    painter.fillRect(bar, theme.rank);
    draw_triangle(painter, bar.left() + 10, bar.center().y(), !rank.folded, theme.dim_text);
    const int pixels = std::clamp(static_cast<int>(std::lround(rank.height * 0.58)), 8, 12);
    draw_text(painter, sized(pixels, true), theme.text, bar.adjusted(22, 0, -kTextInset, 0),
              rank_title(content.scene->trace(), rank.rank));
  }
  painter.setPen(theme.line);
  painter.drawLine(areas.labels.topRight(), areas.labels.bottomRight());
}

void draw_rows_cut(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme) {
  const QRectF all = areas.labels.united(areas.plot);
  const QRectF line(all.left(), all.bottom() - kRowsCutHeight, all.width(), kRowsCutHeight);
  painter.fillRect(line, theme.strip);
  draw_text(painter, sized(10, true), theme.bad, line.adjusted(kTextInset, 0, -kTextInset, 0),
            content.rows_cut == 1 ? QStringLiteral("1 more row does not fit")
                                  : QStringLiteral("%1 more rows do not fit").arg(content.rows_cut));
}

void draw_title(QPainter& painter, const PaneContent& content, const QRectF& area, const Theme& theme) {
  painter.fillRect(area, theme.strip);
  painter.setPen(theme.line);
  painter.drawLine(area.topLeft(), area.topRight());
  const QRectF text = area.adjusted(kTextInset, 0, -kTextInset, 0);
  constexpr double kApart = 14;
  double end = draw_text(painter, sized(13, true), theme.text, text, content.title);
  if (!content.alarm.isEmpty()) {
    const QRectF rest = text.adjusted(end - text.left() + kApart, 0, 0, 0);
    end = draw_text(painter, sized(12, true), theme.bad, rest, content.alarm);
  }
  draw_text(painter, sized(12), theme.dim_text, text.adjusted(end - text.left() + kApart, 0, 0, 0), content.facts);
}

void draw_axis(QPainter& painter, const PaneContent& content, const QRectF& area, const Theme& theme) {
  constexpr double kMajor = 6;
  constexpr double kMinor = 3;
  painter.fillRect(QRectF(area.left() - kLabelWidth, area.top(), area.width() + kLabelWidth, area.height()),
                   theme.strip);
  const QFont font = sized(11);
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  for (const Tick& tick : ticks(content.view, kLabelsApart)) {
    const double x = std::floor(area.left() + content.view.x_of(tick.at)) + 0.5;
    painter.setPen(theme.dim_text);
    painter.drawLine(QPointF(x, area.bottom() - (tick.label.empty() ? kMinor : kMajor)), QPointF(x, area.bottom()));
    if (tick.label.empty()) continue;
    const QString text = QString::fromStdString(tick.label);
    const double width = metrics.horizontalAdvance(text);
    if (x + 4 + width > area.right()) continue;
    painter.setPen(theme.text);
    painter.drawText(QPointF(x + 4, area.bottom() - 5), text);
  }
  painter.setPen(theme.line);
  painter.drawLine(QPointF(area.left() - kLabelWidth, area.bottom()), area.bottomRight());
}

void draw_steps(QPainter& painter, const PaneContent& content, const PaneAreas& areas, const Theme& theme) {
  constexpr double kLeastForText = 110;
  const QRectF& area = areas.steps;
  painter.fillRect(QRectF(areas.labels.left(), area.top(), area.right() - areas.labels.left(), area.height()),
                   theme.strip);
  const Viewport view = content.trace_view();
  const QFont font = sized(11, true);
  for (const Interval& step : content.steps) {
    const double left = std::clamp(view.x_of(step.begin), -2.0, area.width() + 2);
    const double right = std::clamp(view.x_of(step.end), -2.0, area.width() + 2);
    if (right <= 0 || left >= area.width()) continue;
    QPen pen(theme.step);
    for (const double x : {left, right}) {
      pen.setStyle(Qt::DashLine);
      painter.setPen(pen);
      const double at = std::floor(area.left() + x) + 0.5;
      painter.drawLine(QPointF(at, areas.plot.top()), QPointF(at, areas.plot.bottom()));
      pen.setStyle(Qt::SolidLine);
      painter.setPen(pen);
      painter.drawLine(QPointF(at, area.top() + 3), QPointF(at, areas.axis.bottom()));
    }
    painter.drawLine(QPointF(area.left() + left, area.top() + 3.5), QPointF(area.left() + right, area.top() + 3.5));
    if (std::min(right, area.width()) - std::max(left, 0.0) < kLeastForText) continue;
    const QString text = QStringLiteral("step  %1").arg(QString::fromStdString(duration_text(step.length())));
    const double middle = (std::max(left, 0.0) + std::min(right, area.width())) / 2;
    const double width = QFontMetricsF(font).horizontalAdvance(text);
    painter.setFont(font);
    const QRectF box(area.left() + middle - width / 2 - 6, area.top() + 1, width + 12, area.height() - 2);
    painter.fillRect(box, theme.strip);
    painter.setPen(theme.text);
    painter.drawText(box, Qt::AlignCenter, text);
  }
}

}  // namespace interlace::gui
