#include "gui/compare/legend.hpp"

#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "simulator/schedule/schedule.hpp"

namespace interlace::gui {

namespace {

constexpr double kChip = 11;
constexpr double kGap = 5;  ///< between chip and name
constexpr double kApart = 16;
constexpr double kLine = 18;
constexpr double kPadding = 2;  ///< above and below all lines
constexpr double kLeft = 8;

QFont legend_font() {
  QFont font;
  font.setPixelSize(11);
  return font;
}

struct Layout {
  std::vector<ColourEntry> entries;  ///< those that have room
  std::vector<QRectF> places;        ///< of each, from the upper left corner of what is inside the padding
  std::vector<ColourEntry> rest;     ///< those that have none
  QRectF more;                       ///< says how many these are
};

/// Where each entry stands when all do.
std::vector<QRectF> places_of(std::span<const ColourEntry> entries, double width) {
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

QString more_text(std::size_t count) { return QObject::tr("… and %1 more").arg(count); }

Layout lay_out(std::span<const ColourEntry> entries, double width) {
  constexpr double kMostLines = 3;
  const auto fits = [](const QRectF& place) { return place.bottom() <= kMostLines * kLine; };
  Layout all{{entries.begin(), entries.end()}, places_of(entries, width), {}, {}};
  if (all.places.empty() || fits(all.places.back())) return all;
  // What occurs most tells most; overlays, which are no operations, were asked for.
  std::ranges::stable_sort(all.entries, {},
                           [](const ColourEntry& entry) { return std::pair(!entry.overlay, -entry.operations); });
  all.places = places_of(all.entries, width);
  const double own = QFontMetricsF(legend_font()).horizontalAdvance(more_text(entries.size()));
  const auto leaves_room = [&](const QRectF& last) {
    return fits(last) && (last.bottom() < kMostLines * kLine || last.right() + kApart + own <= width);
  };
  std::size_t shown = all.places.size();
  while (shown > 0 && !leaves_room(all.places[shown - 1])) --shown;
  const QRectF last = shown > 0 ? all.places[shown - 1] : QRectF(0, 0, kLeft - kApart, kLine);
  const bool beside = last.right() + kApart + own <= width || shown == 0;
  all.more = beside ? QRectF(last.right() + kApart, last.top(), own, kLine) : QRectF(kLeft, last.bottom(), own, kLine);
  const auto cut = static_cast<std::ptrdiff_t>(shown);
  all.rest.assign(all.entries.begin() + cut, all.entries.end());
  all.entries.resize(shown);
  all.places.resize(shown);
  return all;
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
  const Layout all = lay_out(entries, width);
  const double last = all.places.empty() ? kLine : all.places.back().bottom();
  return std::max(last, all.more.bottom()) + 2 * kPadding;
}

std::vector<ColourEntry> legend_rest(std::span<const ColourEntry> entries, double width) {
  return lay_out(entries, width).rest;
}

void draw_legend(QPainter& painter, std::span<const ColourEntry> entries, const QRectF& area, const Theme& theme) {
  painter.setFont(legend_font());
  const Layout all = lay_out(entries, area.width());
  for (std::size_t i = 0; i < all.entries.size(); ++i) {
    const ColourEntry& entry = all.entries[i];
    const QRectF place = all.places[i].translated(area.left(), area.top() + kPadding);
    const QRectF chip(place.left(), place.center().y() - kChip / 2, kChip, kChip);
    painter.fillRect(chip, entry.colour ? to_qcolor(*entry.colour) : theme.neutral);
    painter.setPen(theme.text);
    painter.drawText(place.adjusted(kChip + kGap, 0, 2, 0), Qt::AlignVCenter, QString::fromStdString(entry.name));
  }
  if (all.rest.empty()) return;
  painter.setPen(theme.dim_text);
  painter.drawText(all.more.translated(area.left(), area.top() + kPadding).adjusted(0, 0, 2, 0), Qt::AlignVCenter,
                   more_text(all.rest.size()));
}

}  // namespace interlace::gui
