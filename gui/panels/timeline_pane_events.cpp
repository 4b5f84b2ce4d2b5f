// How a timeline answers to mouse and wheel.
#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gui/panels/timeline_pane.hpp"
#include "gui/timeline/snap.hpp"

namespace interlace::gui {

namespace {

/// A notch of a wheel (120 eighths of a degree) makes what is seen shorter or longer by a fifth.
constexpr double kZoomANotch = 1.25;
constexpr double kNotch = 120;
constexpr double kSnapPixels = 8;

}  // namespace

void TimelinePane::mousePressEvent(QMouseEvent* event) {
  Q_EMIT became_active();
  if (!run_ || event->button() == Qt::RightButton) return;
  const QPointF at = event->position();
  const PaneAreas parts = areas();
  pressed_at_ = dragged_to_ = at;
  const bool on_axis = parts.axis.contains(at) || parts.steps.contains(at);
  if (on_axis || (parts.plot.contains(at) && event->modifiers().testFlag(Qt::ShiftModifier))) {
    drag_ = Drag::kMeasure;
    all_rows_ = on_axis;
    std::vector<RowIndex> rows = on_axis ? rows_in_sight(content(), plot_height()) : rows_between(at.y(), at.y());
    measured_from_ = snapped(in_plot(at).x(), rows);
  } else {
    drag_ = Drag::kPress;
  }
}

void TimelinePane::mouseMoveEvent(QMouseEvent* event) {
  if (!run_) return;
  const QPointF at = event->position();
  if (drag_ == Drag::kPress && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance() &&
      areas().plot.contains(pressed_at_)) {
    drag_ = Drag::kPan;
    setCursor(Qt::ClosedHandCursor);
  }
  if (drag_ == Drag::kPan) {
    const QPointF moved = at - dragged_to_;
    scroll_by(-moved.y());
    Q_EMIT look_wanted(panned(view_, moved.x()));
  } else if (drag_ == Drag::kMeasure) {
    measure_to(at);
  } else {
    hover(at);
  }
  dragged_to_ = at;
}

void TimelinePane::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = drag_;
  drag_ = Drag::kNone;
  unsetCursor();
  if (!run_) return;
  if (was == Drag::kPress) click(event->position());
  // A press without a drag on the axis takes the range away.
  if (was == Drag::kMeasure && (event->position() - pressed_at_).manhattanLength() < 3)
    Q_EMIT range_wanted(std::nullopt);
}

void TimelinePane::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!run_ || !areas().plot.contains(event->position())) return;
  const QPointF at = in_plot(event->position());
  if (const auto op = hit_test(content(), at.x(), at.y()).operation) Q_EMIT fit_wanted(*op);
}

void TimelinePane::wheelEvent(QWheelEvent* event) {
  if (!run_) return;
  const QPointF at = event->position();
  const QPoint turned = event->angleDelta();
  const PaneAreas parts = areas();
  event->accept();
  if (parts.labels.contains(at) || event->modifiers().testFlag(Qt::ControlModifier)) {
    scroll_by(-turned.y() / 2.0);
  } else if (event->modifiers().testFlag(Qt::ShiftModifier)) {
    Q_EMIT look_wanted(panned(view_, turned.y() != 0 ? turned.y() : turned.x()));
  } else if (std::abs(turned.x()) > std::abs(turned.y())) {
    Q_EMIT look_wanted(panned(view_, turned.x()));
  } else {
    Q_EMIT look_wanted(zoomed(view_, std::pow(kZoomANotch, turned.y() / kNotch), in_plot(at).x()));
  }
}

void TimelinePane::leaveEvent(QEvent* /*event*/) {
  cursor_x_.reset();
  Q_EMIT cursor_moved(std::nullopt);
  if (!hovered_) return;
  hovered_.reset();
  Q_EMIT hovered(std::nullopt);
  update();
}

void TimelinePane::click(QPointF at) {
  const PaneAreas parts = areas();
  const QPointF inside = in_plot(at);
  const PlacedRank* rank = at.y() < parts.plot.top() ? nullptr : placement_.rank_at(placed_at(inside.y()));
  if (rank != nullptr) {
    choice_.folded_ranks[rank->rank.index()] = !choice_.folded_ranks[rank->rank.index()];
    replace_rows();
  } else if (parts.labels.contains(at)) {
    click_on_names(inside);
  } else if (parts.plot.contains(at)) {
    Q_EMIT select_wanted(hit_test(content(), inside.x(), inside.y()).operation);
  }
}

void TimelinePane::click_on_names(QPointF at) {
  const PlacedLane* lane = placement_.lane_at(placed_at(at.y()));
  if (lane == nullptr) return;
  toggle_detail(lane->lane);
}

void TimelinePane::toggle_detail(std::uint32_t lane) {
  if (lane >= choice_.lanes.size()) return;
  LaneDetail& detail = choice_.lanes[lane];
  detail = detail == LaneDetail::kFull ? LaneDetail::kCompact : LaneDetail::kFull;
  replace_rows();
}

void TimelinePane::contextMenuEvent(QContextMenuEvent* event) {
  const PaneAreas parts = areas();
  if (!run_ || !parts.labels.contains(event->pos())) return;
  const PlacedLane* placed = placement_.lane_at(placed_at(in_plot(event->pos()).y()));
  if (placed == nullptr) return;
  const std::uint32_t lane = placed->lane;
  auto* menu = new QMenu(this);
  lane_menu_ = menu;
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(choice_.pinned[lane] ? tr("Put it back to its rank") : tr("Pin to the top"), this,
                  [this, lane] { toggle_pin(lane); });
  menu->addAction(choice_.lanes[lane] == LaneDetail::kFull ? tr("Show the main rows only") : tr("Show all its rows"),
                  this, [this, lane] { toggle_detail(lane); });
  menu->popup(event->globalPos());
}

void TimelinePane::hover(QPointF at) {
  const QPointF inside = in_plot(at);
  const bool on_plot = areas().plot.contains(at);
  cursor_x_ = on_plot ? std::optional(inside.x()) : std::nullopt;
  cursor_y_ = inside.y();
  const auto op = on_plot ? hit_test(content(), inside.x(), inside.y()).operation : std::nullopt;
  if (op != hovered_) {
    hovered_ = op;
    Q_EMIT hovered(op);
    update();
  }
  Q_EMIT cursor_moved(cursor_x_);
}

std::vector<RowIndex> TimelinePane::rows_between(double top, double bottom) const {
  const double from = std::min(top, bottom) - areas().plot.top();
  const double to = std::max(top, bottom) - areas().plot.top();
  std::vector<RowIndex> rows;
  for (const PlacedRow& row : placement_.rows) {
    const double at = placement_.shown_at(row.top, scroll());
    const bool hidden = !placement_.is_pinned(row.top) && at + row.height <= placement_.pinned_height;
    if (at <= to && at + row.height > from && !hidden) rows.push_back(row.row);
  }
  return rows;
}

Nanoseconds TimelinePane::snapped(double x, const std::vector<RowIndex>& rows) const {
  const Viewport view = content().trace_view();
  const Nanoseconds at = view.time_at(x);
  const auto within = static_cast<Nanoseconds>(std::ceil(kSnapPixels * view.ns_per_px));
  return nearest_edge(run_->scene().lanes(), rows, at, within).value_or(at);
}

void TimelinePane::measure_to(QPointF at) {
  std::vector<RowIndex> rows;
  if (all_rows_) {
    rows.resize(run_->scene().lanes().rows.size());
    std::iota(rows.begin(), rows.end(), RowIndex{0});
  } else {
    rows = rows_between(pressed_at_.y(), at.y());
  }
  const Nanoseconds to = snapped(in_plot(at).x(), all_rows_ ? rows_in_sight(content(), plot_height()) : rows);
  Q_EMIT range_wanted(MeasuredRange{between(measured_from_, to), std::move(rows)});
}

}  // namespace interlace::gui
