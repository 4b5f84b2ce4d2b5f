#include "gui/panels/memory_strip.hpp"

#include <QMouseEvent>
#include <algorithm>
#include <utility>

#include "gui/timeline/pane.hpp"

namespace interlace::gui {

MemoryStrip::MemoryStrip(QWidget* parent) : QWidget(parent), theme_(&theme(ThemeKind::kLight)) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  setMinimumHeight(static_cast<int>(memory_height(0)));
}

void MemoryStrip::set_height(double pixels) {
  height_ = static_cast<int>(pixels);
  updateGeometry();
}

void MemoryStrip::set_run(RunPtr run) {
  run_ = std::move(run);
  if (!run_ || curve_ >= run_->memory().size()) curve_ = 0;
  update();
}

void MemoryStrip::set_view(const Viewport& view, Nanoseconds anchor) {
  view_ = view;
  anchor_ = anchor;
  update();
}

void MemoryStrip::set_top(Bytes top) {
  top_ = std::max<Bytes>(top, 1);
  update();
}

void MemoryStrip::set_cursor(std::optional<double> x) {
  if (x == cursor_) return;
  cursor_ = x;
  update();
}

void MemoryStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void MemoryStrip::set_curve(std::size_t curve) {
  if (run_ && curve < run_->memory().size()) curve_ = curve;
  update();
}

MemoryPlot MemoryStrip::plot() const {
  return {&run_->memory()[curve_], &run_->trace(), view_, anchor_, top_, cursor_};
}

Bytes MemoryStrip::most() const {
  Bytes most = 0;
  if (!run_) return most;
  for (const analysis::MemoryCurve& curve : run_->memory()) most = std::max(most, most_of(curve));
  return most;
}

void MemoryStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (has_memory()) draw_memory(painter, plot(), QRectF(rect()), *theme_);
}

void MemoryStrip::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x() - kLabelWidth;
  if (x >= 0) Q_EMIT cursor_moved(x);
}

void MemoryStrip::mousePressEvent(QMouseEvent* event) {
  if (!has_memory()) return;
  if (event->position().x() < kLabelWidth) Q_EMIT curve_wanted((curve_ + 1) % run_->memory().size());
}

}  // namespace interlace::gui
