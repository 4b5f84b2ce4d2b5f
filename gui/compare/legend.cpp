#include "gui/compare/legend.hpp"

#include <QFontMetricsF>
#include <algorithm>

#include "simulator/schedule/schedule.hpp"

namespace interlace::gui {

namespace {

constexpr double kChip = 11;
constexpr double kGap = 5;  ///< between chip and name
constexpr double kApart = 16;
constexpr double kLine = 18;
constexpr double kPadding = 2;  ///< above and below all lines

QFont legend_font() {
  QFont font;
  font.setPixelSize(11);
  return font;
}

/// Where each entry stands, from the upper left corner of what is inside the padding.
std::vector<QRectF> places_of(std::span<const ColourEntry> entries, double width) {
  constexpr double kLeft = 8;
  const QFontMetricsF metrics(legend_font());
  std::vector<QRectF> places;
  double x = kLeft;
  double y = 0;
  for (const ColourEntry& entry : entries) {
    const double own = kChip + kGap + metrics.horizontalAdvance(QString::fromStdString(entry.name));
    if (x > kLeft && x + own > width) {
      x = kLeft;
      y += kLine;
    }
    places.emplace_back(x, y, own, kLine);
    x += own + kApart;
  }
  return places;
}

}  // namespace

std::vector<ColourEntry> legend_of(std::span<const Colouring* const> colourings) {
  std::vector<ColourEntry> legend;
  for (const Colouring* colouring : colourings) {
    for (const ColourEntry& entry : colouring->classes) {
      if (entry.operations == 0 || entry.name.empty()) continue;
      const auto same = std::ranges::find(legend, entry.name, &ColourEntry::name);
      if (same == legend.end()) {
        legend.push_back(entry);
      } else {
        same->operations += entry.operations;
        if (same->colour != entry.colour) same->colour.reset();  // what one name says of several colours
      }
    }
  }
  // Stages in the order of a training step; what is none of these stays behind them in the order of the traces.
  std::ranges::stable_sort(legend, {}, [](const ColourEntry& entry) {
    const auto stage = schedule::stage_named(entry.name);
    return stage ? static_cast<std::size_t>(*stage) : schedule::kStages;
  });
  return legend;
}

double legend_height(std::span<const ColourEntry> entries, double width) {
  const std::vector<QRectF> places = places_of(entries, width);
  return (places.empty() ? kLine : places.back().bottom()) + 2 * kPadding;
}

void draw_legend(QPainter& painter, std::span<const ColourEntry> entries, const QRectF& area, const Theme& theme) {
  painter.setFont(legend_font());
  const std::vector<QRectF> places = places_of(entries, area.width());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const QRectF place = places[i].translated(area.left(), area.top() + kPadding);
    const QRectF chip(place.left(), place.center().y() - kChip / 2, kChip, kChip);
    painter.fillRect(chip, entries[i].colour ? to_qcolor(*entries[i].colour) : theme.neutral);
    painter.setPen(theme.text);
    painter.drawText(place.adjusted(kChip + kGap, 0, 2, 0), Qt::AlignVCenter, QString::fromStdString(entries[i].name));
  }
}

}  // namespace interlace::gui
