#pragma once

#include <QFont>

namespace interlace::gui {

/// The application's font in another size.
[[nodiscard]] inline QFont sized(int pixels, bool bold = false) {
  QFont font;
  font.setPixelSize(pixels);
  font.setBold(bold);
  return font;
}

}  // namespace interlace::gui
