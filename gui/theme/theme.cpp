#include "gui/theme/theme.hpp"

#include <cmath>

namespace interlace::gui {

namespace {

Theme light_theme() {
  return {.kind = ThemeKind::kLight,
          .background = QColor(0xff, 0xff, 0xff),
          .lane = QColor(0xf6, 0xf7, 0xf9),
          .strip = QColor(0xf0, 0xf2, 0xf5),
          .rank = QColor(0xe3, 0xe7, 0xec),
          .line = QColor(0xd3, 0xd8, 0xde),
          .faint_line = QColor(0xe9, 0xec, 0xf0),
          .text = QColor(0x1c, 0x22, 0x2b),
          .dim_text = QColor(0x66, 0x70, 0x7d),
          .neutral = QColor(0xc3, 0xc9, 0xd1),
          .selection = QColor(0x10, 0x14, 0x1a),
          .range = QColor(0x1f, 0x6f, 0xeb, 0x2a),
          .hit = QColor(0xd0, 0x1c, 0x8b),
          .step = QColor(0x8a, 0x94, 0xa3),
          .depends_on = QColor(0xc2, 0x25, 0x5c),
          .needed_by = QColor(0x12, 0x5f, 0xc4),
          .critical = QColor(0xd0, 0x10, 0x20),
          .idle = {QColor(0xd5, 0x5e, 0x00, 0x60), QColor(0x00, 0x72, 0xb2, 0x50), QColor(0x8e, 0x44, 0xad, 0x55),
                   QColor(0x3f, 0x49, 0x57, 0x80), QColor(0x8a, 0x94, 0xa1, 0x70)},
          .good = QColor(0x0b, 0x76, 0x53),
          .bad = QColor(0xb4, 0x45, 0x00)};
}

Theme dark_theme() {
  return {.kind = ThemeKind::kDark,
          .background = QColor(0x14, 0x17, 0x1c),
          .lane = QColor(0x1a, 0x1e, 0x24),
          .strip = QColor(0x1f, 0x24, 0x2b),
          .rank = QColor(0x2a, 0x31, 0x3a),
          .line = QColor(0x3a, 0x42, 0x4d),
          .faint_line = QColor(0x26, 0x2c, 0x34),
          .text = QColor(0xe6, 0xea, 0xf0),
          .dim_text = QColor(0x93, 0x9d, 0xab),
          .neutral = QColor(0x5a, 0x63, 0x70),
          .selection = QColor(0xff, 0xff, 0xff),
          .range = QColor(0x58, 0xa6, 0xff, 0x3a),
          .hit = QColor(0xff, 0x6b, 0xcb),
          .step = QColor(0x8a, 0x94, 0xa3),
          .depends_on = QColor(0xff, 0x7a, 0xa8),
          .needed_by = QColor(0x6c, 0xb6, 0xff),
          .critical = QColor(0xff, 0x5a, 0x5f),
          .idle = {QColor(0xff, 0x8c, 0x3a, 0x70), QColor(0x4a, 0xa8, 0xff, 0x58), QColor(0xc0, 0x84, 0xfc, 0x60),
                   QColor(0xb4, 0xbd, 0xca, 0x70), QColor(0x7a, 0x84, 0x92, 0x70)},
          .good = QColor(0x3f, 0xc3, 0x92),
          .bad = QColor(0xff, 0x9b, 0x52)};
}

}  // namespace

const Theme& theme(ThemeKind kind) {
  static const Theme light = light_theme();
  static const Theme dark = dark_theme();
  return kind == ThemeKind::kDark ? dark : light;
}

QPalette widget_palette(const Theme& theme) {
  QPalette palette;
  palette.setColor(QPalette::Window, theme.strip);
  palette.setColor(QPalette::WindowText, theme.text);
  palette.setColor(QPalette::Base, theme.background);
  palette.setColor(QPalette::AlternateBase, theme.lane);
  palette.setColor(QPalette::Text, theme.text);
  palette.setColor(QPalette::PlaceholderText, theme.dim_text);
  palette.setColor(QPalette::Button, theme.strip);
  palette.setColor(QPalette::ButtonText, theme.text);
  palette.setColor(QPalette::ToolTipBase, theme.background);
  palette.setColor(QPalette::ToolTipText, theme.text);
  palette.setColor(QPalette::Highlight, theme.needed_by);
  palette.setColor(QPalette::HighlightedText, text_on(theme.needed_by));
  palette.setColor(QPalette::Link, theme.needed_by);
  palette.setColor(QPalette::Mid, theme.line);
  palette.setColor(QPalette::Midlight, theme.faint_line);
  palette.setColor(QPalette::Dark, theme.line);
  palette.setColor(QPalette::Light, theme.background);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, mixed(theme.dim_text, theme.strip, 0.6));
  }
  return palette;
}

QColor to_qcolor(Rgb colour) { return {colour.red, colour.green, colour.blue}; }

QColor text_on(const QColor& background) {
  const Rgb rgb{static_cast<std::uint8_t>(background.red()), static_cast<std::uint8_t>(background.green()),
                static_cast<std::uint8_t>(background.blue())};
  // Equal contrast with black and white: sqrt(1.05 * 0.05) - 0.05.
  constexpr double kEqualContrast = 0.179;
  return luminance(rgb) > kEqualContrast ? QColor(0x10, 0x12, 0x16) : QColor(0xff, 0xff, 0xff);
}

QColor mixed(const QColor& over, const QColor& under, double part) {
  const auto channel = [part](int a, int b) { return static_cast<int>(std::lround(a * part + b * (1 - part))); };
  return {channel(over.red(), under.red()), channel(over.green(), under.green()), channel(over.blue(), under.blue())};
}

}  // namespace interlace::gui
