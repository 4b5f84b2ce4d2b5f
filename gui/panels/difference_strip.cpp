#include "gui/panels/difference_strip.hpp"

namespace interlace::gui {

DifferenceStrip::DifferenceStrip(QWidget* parent) : QWidget(parent), theme_(&theme(ThemeKind::kLight)) {
  setFixedHeight(static_cast<int>(kDifferenceHeight));
}

void DifferenceStrip::set_leads(std::vector<Lead> leads) {
  leads_ = std::move(leads);
  update();
}

void DifferenceStrip::set_view(const Viewport& view) {
  view_ = view;
  update();
}

void DifferenceStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void DifferenceStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  draw_difference(painter, leads_, view_, QRectF(rect()), *theme_);
}

}  // namespace interlace::gui
