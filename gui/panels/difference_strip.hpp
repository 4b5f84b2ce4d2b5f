#pragma once

#include <QWidget>
#include <vector>

#include "gui/compare/difference.hpp"

namespace interlace::gui {

/// The lane between the panes that shows where the prediction wins and loses time.
class DifferenceStrip : public QWidget {
 public:
  explicit DifferenceStrip(QWidget* parent = nullptr);

  void set_leads(std::vector<Lead> leads);
  void set_view(const Viewport& view);
  void set_theme(const Theme& theme);
  [[nodiscard]] const std::vector<Lead>& leads() const { return leads_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Lead> leads_;
  Viewport view_;
  const Theme* theme_;
};

}  // namespace interlace::gui
