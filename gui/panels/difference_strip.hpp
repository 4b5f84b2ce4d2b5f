#pragma once

#include <QWidget>
#include <vector>

#include "gui/compare/difference.hpp"

namespace interlace::gui {

/// The lane between the panes that shows where the prediction wins and loses time.
class DifferenceStrip : public QWidget {
  Q_OBJECT

 public:
  explicit DifferenceStrip(QWidget* parent = nullptr);

  void set_leads(std::vector<Lead> leads);
  void set_view(const Viewport& view);
  void set_theme(const Theme& theme);
  /// Where there is so much room; it gives way where there is less.
  void set_height(double pixels);
  [[nodiscard]] QSize sizeHint() const override { return {0, height_}; }
  [[nodiscard]] const std::vector<Lead>& leads() const { return leads_; }

 Q_SIGNALS:
  /// The mouse is over a lead; null: over none.
  void pointed(const interlace::gui::Lead* lead);
  void chosen(const interlace::gui::Lead& lead);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  [[nodiscard]] const Lead* under(const QMouseEvent& event) const;

  std::vector<Lead> leads_;
  Viewport view_;
  int height_ = 0;
  const Theme* theme_;
};

}  // namespace interlace::gui
