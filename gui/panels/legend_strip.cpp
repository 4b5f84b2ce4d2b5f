#include "gui/panels/legend_strip.hpp"

namespace interlace::gui {

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent), theme_(&theme(ThemeKind::kLight)) { fit(); }

void LegendStrip::set_entries(std::vector<ColourEntry> entries) {
  entries_ = std::move(entries);
  fit();
  update();
}

void LegendStrip::fit() { setFixedHeight(static_cast<int>(legend_height(entries_, width()))); }

void LegendStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

void LegendStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void LegendStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_->strip);
  draw_legend(painter, entries_, QRectF(rect()), *theme_);
}

}  // namespace interlace::gui
