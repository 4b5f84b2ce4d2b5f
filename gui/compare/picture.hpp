#pragma once

#include <QPainter>
#include <QString>
#include <filesystem>
#include <optional>
#include <vector>

#include "gui/compare/difference.hpp"
#include "gui/theme/theme.hpp"
#include "gui/timeline/colouring.hpp"
#include "gui/timeline/memory_plot.hpp"
#include "gui/timeline/pane.hpp"
#include "simulator/base/error.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kUnknownPictureFormat{"gui.unknown_picture_format"};
inline constexpr ErrorCode kCannotWritePicture{"gui.cannot_write_picture"};

struct PicturePane {
  PaneContent content;
  double height = 0;
  std::optional<std::vector<Lead>> leads;  ///< shown in a lane of its own above the pane
  double leads_height = 0;                 ///< 0 without leads
  std::optional<MemoryPlot> memory;        ///< below the pane
  double memory_height = 0;                ///< 0 without memory
};

/// Timelines above each other with a title and a legend, as exported.
struct Picture {
  QString title;  ///< may be empty
  std::vector<ColourEntry> legend;
  std::vector<PicturePane> panes;  ///< from the top
  double width = 0;
  ThemeKind theme = ThemeKind::kLight;

  [[nodiscard]] double height() const;
  /// In whole pixels, as it is written.
  [[nodiscard]] QSize size() const;
  /// Of title and legend, above all panes.
  [[nodiscard]] double head_height() const;
  /// Where a pane stands.
  [[nodiscard]] QRectF pane_area(std::size_t pane) const;
};

void draw_picture(QPainter& painter, const Picture& picture);

/// Writes .png, .svg or .pdf by the end of the name. Throws gui.unknown_picture_format, gui.cannot_write_picture.
void write_picture(const Picture& picture, const std::filesystem::path& file);

}  // namespace interlace::gui
