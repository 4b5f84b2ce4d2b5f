#include "gui/compare/legend.hpp"

#include <QFontMetricsF>
#include <algorithm>

#include "simulator/schedule/schedule.hpp"

namespace interlace::gui {

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

void draw_legend(QPainter& painter, std::span<const ColourEntry> entries, const QRectF& area, const Theme& theme) {
  constexpr double kChip = 11;
  constexpr double kPadding = 8;
  QFont font;
  font.setPixelSize(11);
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  double x = area.left() + kPadding;
  for (const ColourEntry& entry : entries) {
    const QString name = QString::fromStdString(entry.name);
    const double width = metrics.horizontalAdvance(name);
    if (x + kChip + 5 + width > area.right()) {
      painter.setPen(theme.dim_text);
      painter.drawText(QRectF(x, area.top(), area.right() - x, area.height()), Qt::AlignVCenter, QStringLiteral("…"));
      return;
    }
    const QRectF chip(x, area.center().y() - kChip / 2, kChip, kChip);
    painter.fillRect(chip, entry.colour ? to_qcolor(*entry.colour) : theme.neutral);
    painter.setPen(theme.text);
    painter.drawText(QRectF(chip.right() + 5, area.top(), width + 2, area.height()), Qt::AlignVCenter, name);
    x = chip.right() + 5 + width + 16;
  }
}

}  // namespace interlace::gui
