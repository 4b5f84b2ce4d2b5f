#pragma once

#include <QWidget>
#include <vector>

#include "gui/compare/legend.hpp"

namespace interlace::gui {

/// The lines that say what colours mean.
class LegendStrip : public QWidget {
 public:
  explicit LegendStrip(QWidget* parent = nullptr);

  void set_entries(std::vector<ColourEntry> entries);
  void set_theme(const Theme& theme);
  [[nodiscard]] const std::vector<ColourEntry>& entries() const { return entries_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  std::vector<ColourEntry> entries_;
  const Theme* theme_;
};

}  // namespace interlace::gui
