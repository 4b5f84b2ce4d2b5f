#include "gui/panels/timeline_pane.hpp"

#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/timeline/dependencies.hpp"
#include "gui/timeline/draw_pane.hpp"
#include "gui/timeline/explanations.hpp"

namespace interlace::gui {

namespace {

constexpr int kScrollBarWidth = 12;

}  // namespace

TimelinePane::TimelinePane(QWidget* parent)
    : QWidget(parent), theme_(&theme(ThemeKind::kLight)), scroll_bar_(new QScrollBar(Qt::Vertical, this)) {
  setMouseTracking(true);
  setMinimumSize(400, static_cast<int>(kAbovePlot) + 60);
  setAttribute(Qt::WA_OpaquePaintEvent);
  scroll_bar_->setSingleStep(20);
  scroll_bar_->hide();
  connect(scroll_bar_, &QScrollBar::valueChanged, this, qOverload<>(&QWidget::update));
}

void TimelinePane::set_run(RunPtr run, std::shared_ptr<const Colouring> colouring) {
  if (lane_menu_) lane_menu_->close();  // its lane is one of the run that goes
  const RunPtr before = std::exchange(run_, std::move(run));
  colouring_ = std::move(colouring);
  selected_.reset();
  counterpart_.reset();
  hovered_.reset();
  arrows_.clear();
  range_.reset();
  marks_.clear();
  hits_.reset();
  if (run_) {
    labels_ = std::make_unique<LabelCache>(run_->trace());
    choice_ = before
                  ? choice_.carried_over(before->trace(), before->scene().lanes(), run_->trace(), run_->scene().lanes())
                  : LaneChoice::compact(run_->scene().lanes(), run_->trace().ranks().size());
  }
  replace_rows();
}

void TimelinePane::set_colouring(std::shared_ptr<const Colouring> colouring) {
  colouring_ = std::move(colouring);
  update();
}

void TimelinePane::set_title(const QString& title, const QString& facts, const QString& alarm) {
  title_ = title;
  alarm_ = alarm;
  facts_ = facts;
  update();
}

void TimelinePane::set_hint(const QString& hint) {
  hint_ = hint;
  update();
}

void TimelinePane::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void TimelinePane::set_view(const Viewport& view, Nanoseconds anchor) {
  if (view == view_ && anchor == anchor_) return;
  view_ = view;
  anchor_ = anchor;
  update();
}

void TimelinePane::set_selected(std::optional<trace::OperationId> op) {
  selected_ = op;
  arrows_.clear();
  if (op && run_) {
    const graph::Graph* graph = run_->dependencies();
    arrows_ = graph != nullptr ? dependencies_of(*graph, *op) : recorded_links_of(run_->trace(), *op);
  }
  update();
}

void TimelinePane::set_counterpart(std::optional<trace::OperationId> op) {
  counterpart_ = op;
  update();
}

void TimelinePane::set_range(std::optional<MeasuredRange> range) {
  range_ = std::move(range);
  update();
}

void TimelinePane::set_marks(std::vector<Mark> marks) {
  marks_ = std::move(marks);
  update();
}

void TimelinePane::set_critical_shown(bool shown) {
  critical_shown_ = shown;
  update();
}

void TimelinePane::set_idle_shown(bool shown) {
  idle_shown_ = shown;
  update();
}

const analysis::IdlePiece* TimelinePane::idle_under_mouse() const {
  return run_ && cursor_x_ ? idle_at(content(), *cursor_x_, cursor_y_) : nullptr;
}

void TimelinePane::set_hits(std::shared_ptr<const SearchHits> hits) {
  hits_ = std::move(hits);
  update();
}

void TimelinePane::set_detail_of_all(LaneDetail detail) {
  std::ranges::fill(choice_.lanes, detail);
  replace_rows();
}

void TimelinePane::toggle_pin(std::uint32_t lane) {
  if (lane >= choice_.pinned.size()) return;
  choice_.pinned[lane] = !choice_.pinned[lane];
  replace_rows();
}

void TimelinePane::toggle_pin_of_choice() {
  if (!run_) return;
  const auto op = selected_ ? selected_ : hovered_;
  if (!op) return;
  const auto& lanes = run_->scene().lanes().lanes;
  const auto lane = std::ranges::find(lanes, run_->trace().lane_of(*op), &LaneRows::lane);
  if (lane != lanes.end()) toggle_pin(static_cast<std::uint32_t>(lane - lanes.begin()));
}

void TimelinePane::replace_rows() {
  placement_ = run_ ? place_in_sight(run_->trace(), run_->scene().lanes(), choice_, plot_height()) : Placement();
  place_scroll_bar();
  update();
}

void TimelinePane::reveal(trace::OperationId op) {
  if (!run_) return;
  const auto row = row_of(run_->scene().lanes(), run_->trace(), op);
  if (!row) return;
  if (placement_.place_of(*row) == nullptr) {
    choice_.folded_ranks[run_->trace().rank_of(op).index()] = false;
    const auto& lanes = run_->scene().lanes().lanes;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].lane == run_->trace().lane_of(op)) choice_.lanes[i] = LaneDetail::kFull;
    }
    replace_rows();
  }
  const PlacedRow* placed = placement_.place_of(*row);
  if (placement_.is_pinned(placed->top)) return;
  const double top = scroll_bar_->value() + placement_.pinned_height;
  if (placed->top < top || placed->top + placed->height > scroll_bar_->value() + plot_height()) {
    scroll_bar_->setValue(static_cast<int>(placed->top + placed->height / 2 - plot_height() / 2));
  }
}

void TimelinePane::scroll_by(double pixels) {
  scroll_bar_->setValue(scroll_bar_->value() + static_cast<int>(std::lround(pixels)));
}

PaneContent TimelinePane::content() const {
  PaneContent content;
  content.scene = &run_->scene();
  content.colouring = colouring_.get();
  content.placement = &placement_;
  content.title = title_;
  content.alarm = alarm_;
  content.facts = facts_;
  content.view = view_;
  content.anchor = anchor_;
  content.scroll = scroll_bar_->value();
  content.steps = run_->first_steps();
  content.selected = selected_;
  content.counterpart = counterpart_;
  content.hovered = hovered_;
  content.arrows = arrows_;
  content.range = range_;
  content.marks = marks_;
  content.hits = hits_.get();
  if (critical_shown_) content.critical = run_->critical_paths();
  if (idle_shown_) content.idle = run_->idle();
  return content;
}

PaneAreas TimelinePane::areas() const { return areas_of(QRectF(rect())); }
double TimelinePane::scroll() const { return scroll_bar_->value(); }
double TimelinePane::plot_width() const { return areas().plot.width(); }
double TimelinePane::plot_height() const { return areas().plot.height(); }
QPointF TimelinePane::in_plot(QPointF at) const { return at - areas().plot.topLeft(); }

void TimelinePane::place_scroll_bar() {
  const QRectF plot = areas().plot;
  const double beyond = placement_.height - plot.height();
  scroll_bar_->setVisible(beyond > 0);
  scroll_bar_->setRange(0, std::max(0, static_cast<int>(std::ceil(beyond))));
  scroll_bar_->setPageStep(std::max(1, static_cast<int>(plot.height())));
  scroll_bar_->setGeometry(static_cast<int>(plot.right()) - kScrollBarWidth, static_cast<int>(plot.top()),
                           kScrollBarWidth, static_cast<int>(plot.height()));
}

void TimelinePane::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (run_) {
    draw_pane(painter, content(), QRectF(rect()), *theme_, *labels_);
    return;
  }
  painter.fillRect(rect(), theme_->background);
  painter.setPen(theme_->dim_text);
  QFont font;
  font.setPixelSize(15);
  painter.setFont(font);
  painter.drawText(rect(), Qt::AlignCenter, hint_);
}

void TimelinePane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  replace_rows();
  Q_EMIT resized();
}

}  // namespace interlace::gui
