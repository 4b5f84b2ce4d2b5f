#pragma once

#include <QColor>
#include <QPalette>
#include <array>

#include "gui/theme/palette.hpp"

namespace interlace::gui {

enum class ThemeKind : std::uint8_t { kLight, kDark };

/// The colours of everything that is not an operation.
struct Theme {
  ThemeKind kind = ThemeKind::kLight;
  QColor background;  ///< behind the lanes
  QColor lane;        ///< of every second lane
  QColor strip;       ///< titles, axes, lane names
  QColor rank;        ///< the bar above the lanes of a rank
  QColor line;        ///< between parts, and the lines of the time axis
  QColor faint_line;  ///< minor marks
  QColor text;
  QColor dim_text;
  QColor neutral;              ///< operations of no colour class
  QColor selection;            ///< outline of the selected operation, and what is chosen
  QColor range;                ///< the measured range, translucent
  QColor hit;                  ///< what the search found
  QColor step;                 ///< borders of training steps
  QColor depends_on;           ///< arrows from what the selected operation had to wait for
  QColor needed_by;            ///< arrows to what had to wait for it
  QColor critical;             ///< the critical path
  std::array<QColor, 5> idle;  ///< bands where a device does nothing, by analysis::IdleCause; translucent
  QColor good;
  QColor bad;
};

[[nodiscard]] const Theme& theme(ThemeKind kind);

/// The same for Qt's own widgets.
[[nodiscard]] QPalette widget_palette(const Theme& theme);

[[nodiscard]] QColor to_qcolor(Rgb colour);
/// Black or white, whichever is easier to read on `background`.
[[nodiscard]] QColor text_on(const QColor& background);
/// part = 1: `over`, 0: `under`.
[[nodiscard]] QColor mixed(const QColor& over, const QColor& under, double part);

}  // namespace interlace::gui
