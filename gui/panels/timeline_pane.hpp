#pragma once

#include <QMenu>
#include <QPointer>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "gui/session/run.hpp"
#include "gui/theme/theme.hpp"
#include "gui/timeline/label_cache.hpp"
#include "gui/timeline/pane.hpp"

class QScrollBar;

namespace interlace::gui {

/// One timeline on the screen. It turns mouse and wheel into wishes, which its owner grants: it never moves the view
/// itself.
class TimelinePane : public QWidget {
  Q_OBJECT

 public:
  explicit TimelinePane(QWidget* parent = nullptr);

  /// Null: nothing to show, `hint` instead.
  void set_run(RunPtr run, std::shared_ptr<const Colouring> colouring);
  void set_colouring(std::shared_ptr<const Colouring> colouring);
  void set_title(const QString& title, const QString& facts, const QString& alarm = {});
  void set_hint(const QString& hint);
  void set_theme(const Theme& theme);
  void set_view(const Viewport& view, Nanoseconds anchor);
  void set_selected(std::optional<trace::OperationId> op);
  /// The same work as is selected in the other pane.
  void set_counterpart(std::optional<trace::OperationId> op);
  void set_range(std::optional<MeasuredRange> range);
  void set_marks(std::vector<Mark> marks);
  void set_critical_shown(bool shown);
  void set_idle_shown(bool shown);
  /// Null: no search.
  void set_hits(std::shared_ptr<const SearchHits> hits);
  void set_detail_of_all(LaneDetail detail);
  /// The lane at this position of Lanes::lanes stays at the top while others scroll, or no longer does. Nothing
  /// where there is no such lane.
  void toggle_pin(std::uint32_t lane);
  /// That of the selected operation, else of the one under the mouse.
  void toggle_pin_of_choice();
  /// Scrolls so that the row of an operation is in sight, unfolding what hides it.
  void reveal(trace::OperationId op);
  void scroll_by(double pixels);

  [[nodiscard]] const RunPtr& run() const { return run_; }
  /// REQUIRES: run() is not null.
  [[nodiscard]] PaneContent content() const;
  [[nodiscard]] const LaneChoice& choice() const { return choice_; }
  [[nodiscard]] double plot_width() const;
  [[nodiscard]] double plot_height() const;
  [[nodiscard]] std::optional<trace::OperationId> selected() const { return selected_; }
  [[nodiscard]] const std::optional<MeasuredRange>& range() const { return range_; }
  /// Why the device does nothing under the mouse, while that is shown.
  [[nodiscard]] const analysis::IdlePiece* idle_under_mouse() const;
  /// Where the mouse is in the plot: pixels from its left edge.
  [[nodiscard]] std::optional<double> cursor_x() const { return cursor_x_; }

 Q_SIGNALS:
  void look_wanted(const interlace::gui::Viewport& view);
  void select_wanted(std::optional<interlace::trace::OperationId> op);
  void fit_wanted(interlace::trace::OperationId op);
  void range_wanted(std::optional<interlace::gui::MeasuredRange> range);
  void hovered(std::optional<interlace::trace::OperationId> op);
  /// Pixels from the left edge of the plot; none: the mouse is elsewhere.
  void cursor_moved(std::optional<double> x);
  /// The mouse was pressed here: keys are meant for this pane.
  void became_active();
  void resized();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  enum class Drag { kNone, kPress, kPan, kMeasure };

  void replace_rows();
  void place_scroll_bar();
  [[nodiscard]] PaneAreas areas() const;
  [[nodiscard]] QPointF in_plot(QPointF at) const;
  void click(QPointF at);
  void click_on_names(QPointF at);
  void toggle_detail(std::uint32_t lane);
  /// What stands at a height of the plot, as a place in placement_.
  [[nodiscard]] double placed_at(double y) const { return placement_.placed_at(y, scroll()); }
  [[nodiscard]] double scroll() const;
  void hover(QPointF at);
  void measure_to(QPointF at);
  [[nodiscard]] Nanoseconds snapped(double x, const std::vector<RowIndex>& rows) const;
  [[nodiscard]] std::vector<RowIndex> rows_between(double top, double bottom) const;

  RunPtr run_;
  std::shared_ptr<const Colouring> colouring_;
  std::unique_ptr<LabelCache> labels_;
  LaneChoice choice_;
  Placement placement_;
  QString title_;
  QString facts_;
  QString alarm_;
  QString hint_;
  const Theme* theme_;
  Viewport view_;
  Nanoseconds anchor_ = 0;
  std::optional<trace::OperationId> selected_;
  std::optional<trace::OperationId> counterpart_;
  std::optional<trace::OperationId> hovered_;
  std::vector<Dependency> arrows_;
  std::optional<MeasuredRange> range_;
  std::vector<Mark> marks_;
  std::shared_ptr<const SearchHits> hits_;
  QScrollBar* scroll_bar_;
  QPointer<QMenu> lane_menu_;  ///< while it is open: of a lane of run_

  Drag drag_ = Drag::kNone;
  QPointF pressed_at_;
  QPointF dragged_to_;
  Nanoseconds measured_from_ = 0;
  bool all_rows_ = false;  ///< the range being dragged is on all rows
  std::optional<double> cursor_x_;
  double cursor_y_ = 0;
  bool critical_shown_ = false;
  bool idle_shown_ = false;
};

}  // namespace interlace::gui
