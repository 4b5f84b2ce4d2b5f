#include "gui/panels/legend_strip.hpp"

namespace interlace::gui {

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent), theme_(&theme(ThemeKind::kLight)) { fit(); }

void LegendStrip::set_entries(std::vector<ColourEntry> entries) {
  entries_ = std::move(entries);
  fit();
  update();
}

void LegendStrip::fit() {
  setFixedHeight(static_cast<int>(legend_height(entries_, width())));
  QStringList rest;
  for (const ColourEntry& entry : legend_rest(entries_, width())) {
    const QColor colour = entry.colour ? to_qcolor(*entry.colour) : theme_->neutral;
    rest << QStringLiteral("<span style='color:%1'>■</span> %2")
                .arg(colour.name(), QString::fromStdString(entry.name).toHtmlEscaped());
  }
  setToolTip(rest.join(QStringLiteral(", ")));
}

void LegendStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

void LegendStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  fit();
  update();
}

void LegendStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_->strip);
  draw_legend(painter, entries_, QRectF(rect()), *theme_);
}

}  // namespace interlace::gui
