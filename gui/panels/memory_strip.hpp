#pragma once

#include <QWidget>
#include <optional>

#include "gui/session/run.hpp"
#include "gui/theme/theme.hpp"
#include "gui/timeline/memory_plot.hpp"

namespace interlace::gui {

/// The memory curves of one rank below a timeline. A click on its name shows the next rank.
class MemoryStrip : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryStrip(QWidget* parent = nullptr);

  /// Null, or a run without memory: nothing to show.
  void set_run(RunPtr run);
  void set_view(const Viewport& view, Nanoseconds anchor);
  /// The upper edge: the same on both sides, so that they can be compared.
  void set_top(Bytes top);
  /// Pixels from the left edge of the plot.
  void set_cursor(std::optional<double> x);
  void set_theme(const Theme& theme);
  /// Where there is so much room; it gives way where there is less.
  void set_height(double pixels);
  void set_curve(std::size_t curve);

  [[nodiscard]] QSize sizeHint() const override { return {0, height_}; }
  [[nodiscard]] bool has_memory() const { return run_ && !run_->memory().empty(); }
  /// Which of the run's curves is shown.
  [[nodiscard]] std::size_t curve() const { return curve_; }
  /// REQUIRES: has_memory().
  [[nodiscard]] MemoryPlot plot() const;
  /// Of the largest curve of the run; 0 without.
  [[nodiscard]] Bytes most() const;

 Q_SIGNALS:
  void cursor_moved(std::optional<double> x);
  void curve_wanted(std::size_t curve);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  RunPtr run_;
  Viewport view_;
  Nanoseconds anchor_ = 0;
  Bytes top_ = 1;
  std::optional<double> cursor_;
  std::size_t curve_ = 0;
  int height_ = 0;
  const Theme* theme_;
};

}  // namespace interlace::gui
