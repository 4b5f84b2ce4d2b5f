#include "gui/panels/difference_strip.hpp"

#include <QMouseEvent>
#include <utility>

#include "gui/timeline/pane.hpp"

namespace interlace::gui {

DifferenceStrip::DifferenceStrip(QWidget* parent) : QWidget(parent), theme_(&theme(ThemeKind::kLight)) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  setMinimumHeight(static_cast<int>(difference_height(0)));
}

void DifferenceStrip::set_height(double pixels) {
  height_ = static_cast<int>(pixels);
  updateGeometry();
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

const Lead* DifferenceStrip::under(const QMouseEvent& event) const {
  const double x = event.position().x() - kLabelWidth;
  return x < 0 ? nullptr : lead_at(leads_, view_.time_at(x));
}

void DifferenceStrip::mouseMoveEvent(QMouseEvent* event) { Q_EMIT pointed(under(*event)); }

void DifferenceStrip::mousePressEvent(QMouseEvent* event) {
  if (const Lead* lead = under(*event)) Q_EMIT chosen(*lead);
}

void DifferenceStrip::leaveEvent(QEvent* /*event*/) { Q_EMIT pointed(nullptr); }

void DifferenceStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  draw_difference(painter, leads_, view_, QRectF(rect()), *theme_);
}

}  // namespace interlace::gui
