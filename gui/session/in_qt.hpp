#pragma once

#include <QString>
#include <string_view>

namespace interlace::gui {

/// A text of the simulator, UTF-8 as all of them.
[[nodiscard]] inline QString in_qt(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace interlace::gui
