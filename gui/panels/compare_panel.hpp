#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/compare/comparison.hpp"
#include "gui/compare/picture.hpp"
#include "gui/compare/views.hpp"
#include "gui/panels/timeline_pane.hpp"
#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"

class QSplitter;
class QTabBar;

namespace interlace::gui {

class DifferenceStrip;
class LegendStrip;
class MemoryStrip;

/// The measured timeline above or beside the predicted ones (a tab each), with one view for both while they are linked.
class ComparePanel : public QWidget {
  Q_OBJECT

 public:
  explicit ComparePanel(QWidget* parent = nullptr);

  /// Drops all predictions and shows the recording alone.
  void set_recorded(RecordedPtr recorded);
  /// Adds a tab, or replaces that of the same schedule, and shows it.
  void add_forecast(ForecastPtr forecast);
  void show_forecast(int tab);
  void close_forecast(int tab);
  /// The prediction of this schedule is of it as it was before edits; until add_forecast() brings another.
  void set_outdated(const std::string& schedule);
  [[nodiscard]] bool is_outdated(const std::string& schedule) const { return outdated_.contains(schedule); }
  void set_theme(const Theme& theme);
  void set_colour_by(ColourBy by);
  void set_hint(const QString& hint);

  // What keys and menus do; each concerns the pane that was used last and, while linked, the other.
  void zoom(double factor);
  void pan(double part_of_width);
  void scroll(double pixels);
  void fit_all();
  void fit_step();
  /// The measured range, else the selected operation.
  void fit_selection();
  void go_back();
  void go_forward();
  void set_linked(bool linked);
  /// Time 0 of both to the begin of a step: that which was aligned last.
  void align_step();
  /// Time 0 of both to where the device begins with a batch: that of the selected operation, else the last one that
  /// both show being trained.
  void align_batch();
  /// Time 0 of both to the starts of what is measured or selected in either pane. Where only one has a selection, the
  /// other follows with the same piece of work.
  void align_selections();
  /// The step or batch that is so many behind the aligned one; after align_selections() steps again.
  void align_next(std::ptrdiff_t by);
  /// Side by side, or the measured timeline above the other.
  void set_beside(bool beside);
  [[nodiscard]] bool beside() const;
  void toggle_mark();
  /// Where marks are set: at the selected operation, else at the mouse. REQUIRES: the active pane has a run.
  [[nodiscard]] Nanoseconds mark_place() const;
  /// Writes on the mark there in the active pane, which is set where there is none.
  void set_note(Nanoseconds at, const std::string& text);
  /// The recording's. Nothing is emitted.
  void set_marks(std::vector<Mark> marks);
  void clear_selection();
  /// The next or previous operation on the row of the selected one.
  void select_neighbour(bool next);
  void set_detail(LaneDetail detail);
  /// Of the selected operation, else of the one under the mouse: its lane stays at the top, or no longer does.
  void toggle_pin() { active_pane().toggle_pin_of_choice(); }
  /// The critical path of each step over the operations.
  void set_critical_shown(bool shown);
  /// Bands where devices do nothing, by cause.
  void set_idle_shown(bool shown);
  /// Draws overlays anew once runs have been explained, and asks for what is lacking.
  void show_explanations();
  [[nodiscard]] bool critical_shown() const { return critical_shown_; }
  [[nodiscard]] bool idle_shown() const { return idle_shown_; }
  /// Memory curves below the timelines, where there are any.
  void set_memory_shown(bool shown);
  /// In both panes. Throws gui.bad_pattern.
  void search(const QString& pattern);
  /// Shows the next or previous hit of the pane used last; false where there is none.
  bool show_hit(bool next);

  [[nodiscard]] const Views& views() const { return views_; }
  [[nodiscard]] TimelinePane& pane(Side side) const { return *panes_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] MemoryStrip& memory(Side side) const { return *memories_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] bool memory_shown() const { return memory_shown_; }
  /// Where the mouse is on the axis of the side that it is on, as a time of that side's trace.
  [[nodiscard]] std::optional<Nanoseconds> cursor_time() const { return cursor_time_; }
  [[nodiscard]] const std::vector<Mark>& marks(Side side) const { return marks_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] Side active() const { return active_; }
  [[nodiscard]] const std::vector<ForecastPtr>& forecasts() const { return forecasts_; }
  [[nodiscard]] int shown_forecast() const;
  /// Of the recording and the prediction that is shown.
  [[nodiscard]] const Comparison& comparison() const { return comparison_; }
  /// The same piece of work in the other pane, where it is there.
  [[nodiscard]] std::optional<trace::OperationId> counterpart_of(Side side, trace::OperationId op) const;
  /// Of the step that is aligned, or that trains the aligned batch, behind the middle one.
  [[nodiscard]] std::ptrdiff_t aligned_step() const { return aligned_step_; }
  [[nodiscard]] AlignBy aligned_by() const { return aligned_by_; }
  /// "3 of 120"; empty without a search.
  [[nodiscard]] QString hit_text() const;
  /// What is seen now, and all rows above and below that.
  [[nodiscard]] Picture picture() const;

 Q_SIGNALS:
  void selection_changed();
  void range_changed();
  void hovered(const QString& headline);
  /// The mouse is elsewhere on the axis, or another rank's memory is shown.
  void cursor_changed(interlace::gui::Side side);
  void marks_changed(interlace::gui::Side side);
  void linked_changed(bool linked);
  void alignment_changed();
  /// Other things than before are drawn over and below the timelines.
  void overlays_changed();
  void forecast_closed(const std::string& schedule);
  /// An overlay is shown for which the run is not explained yet; when it is, call show_explanations().
  void explanation_wanted(const interlace::gui::RunPtr& run);
  void forecast_shown(int tab);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Shown {
    RunPtr run;
    std::shared_ptr<const Colouring> colouring;
  };

  void connect_pane(Side side);
  /// `title` with the remark that it is of an earlier draft, where that is so.
  [[nodiscard]] QString as_of_draft(const std::string& schedule, const QString& title) const;
  void name_forecast(const Forecast& forecast);
  /// The tab of a schedule that can race is marked, and tells how.
  void name_tab(int tab);
  /// Shows the marks of a side after a change.
  void show_marks(Side side);
  void share_evenly();
  void look(Side side, const Viewport& view);
  void show_views();
  void apply_width();
  /// Puts time 0 where the alignment wants it, and compares anew.
  void align();
  void set_anchors();
  [[nodiscard]] std::span<const Interval> predicted_steps() const;
  [[nodiscard]] std::optional<Nanoseconds> start_of_choice(Side side) const;
  /// A view of the aligned step or batch from its begin.
  [[nodiscard]] Interval aligned_view() const;
  void look_at_first();
  void remember();
  void restore(const Views& views);
  void select(Side side, std::optional<trace::OperationId> op, bool bring_into_view);
  void fit(Side side, Interval in_trace);
  [[nodiscard]] std::shared_ptr<const Colouring> colouring_of(const Run& run) const;
  void recolour();
  void update_legend();
  void update_hits();
  void compare();
  void show_counterparts();
  void show_memory();
  /// As high as the room allows that the rows need more.
  void fit_strips();
  [[nodiscard]] std::vector<Mark>::iterator mark_near(Nanoseconds at);
  void show_cursor(Side side, std::optional<double> x);
  [[nodiscard]] TimelinePane& active_pane() const { return pane(active_); }
  [[nodiscard]] Interval limits(Side side) const;

  RecordedPtr recorded_;
  std::vector<ForecastPtr> forecasts_;
  Views views_;
  ViewHistory history_;
  Comparison comparison_;
  QElapsedTimer clock_;
  ColourBy colour_by_ = ColourBy::kStage;
  const Theme* theme_;
  Side active_ = Side::kMeasured;
  std::ptrdiff_t aligned_step_ = 0;
  AlignBy aligned_by_ = AlignBy::kStep;
  std::optional<trace::OperationId> aligned_work_;  ///< of the recording: by its start; only with kRange
  bool first_view_pending_ = false;
  bool panes_sized_ = false;  ///< by the user
  bool memory_shown_ = true;
  bool critical_shown_ = false;
  bool idle_shown_ = false;
  std::optional<Nanoseconds> cursor_time_;
  QString pattern_;
  std::array<std::shared_ptr<const SearchHits>, kSides> hits_;
  std::array<std::shared_ptr<const Colouring>, kSides> colourings_;
  std::array<std::vector<Mark>, kSides> marks_;
  std::map<std::string, std::vector<Mark>> marks_of_;  ///< by schedule: of all predictions
  std::set<std::string> outdated_;                     ///< schedules edited since they were predicted

  LegendStrip* legend_;
  QSplitter* splitter_;
  QWidget* upper_;
  QWidget* lower_;
  QTabBar* tabs_;
  DifferenceStrip* difference_;
  std::array<TimelinePane*, kSides> panes_{};
  std::array<MemoryStrip*, kSides> memories_{};
};

}  // namespace interlace::gui
