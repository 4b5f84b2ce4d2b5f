#pragma once

#include <QWidget>
#include <vector>

#include "gui/compare/legend.hpp"

namespace interlace::gui {

/// The line that says what colours mean.
class LegendStrip : public QWidget {
 public:
  explicit LegendStrip(QWidget* parent = nullptr);

  void set_entries(std::vector<ColourEntry> entries);
  void set_theme(const Theme& theme);
  [[nodiscard]] const std::vector<ColourEntry>& entries() const { return entries_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<ColourEntry> entries_;
  const Theme* theme_;
};

}  // namespace interlace::gui
