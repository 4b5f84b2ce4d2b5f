#pragma once

#include <QPainter>
#include <span>
#include <vector>

#include "gui/theme/theme.hpp"
#include "gui/timeline/colouring.hpp"

namespace interlace::gui {

/// The classes that occur in any of the colourings, each name once.
[[nodiscard]] std::vector<ColourEntry> legend_of(std::span<const Colouring* const> colourings);

/// Draws a chip and a name for each entry, in as many lines as that takes: at most three. Where that is too few, those
/// of most operations, and how many more there are.
void draw_legend(QPainter& painter, std::span<const ColourEntry> entries, const QRectF& area, const Theme& theme);
/// Pixels that this takes.
[[nodiscard]] double legend_height(std::span<const ColourEntry> entries, double width);
/// What has no room.
[[nodiscard]] std::vector<ColourEntry> legend_rest(std::span<const ColourEntry> entries, double width);

}  // namespace interlace::gui
