#pragma once

#include <QMainWindow>
#include <QTimer>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/blocks_model.hpp"
#include "gui/models/diagnostics_model.hpp"
#include "gui/models/facts_model.hpp"
#include "gui/models/predictions_model.hpp"
#include "gui/models/range_model.hpp"
#include "gui/panels/compare_panel.hpp"
#include "gui/panels/schedule_editor.hpp"
#include "gui/session/session.hpp"

class QComboBox;
class QDockWidget;
class QLabel;
class QLineEdit;
class QMenu;
class QMessageBox;
class QProgressBar;
class QSplitter;
class QTabWidget;
class QToolBar;
class QToolButton;

namespace interlace::gui {

class TablePanel;

/// The window: timelines in the middle, what is known of them below.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);

  /// Replaces what is open; then predicts these schedules (names, files, or "all": predict_all()).
  void open(std::vector<std::filesystem::path> files, std::vector<std::string> schedules = {});
  /// Opens all recordings by this annotation profile, also the one that is open, anew; none: by the built-in one that
  /// fits.
  void use_profile(std::optional<stages::Profile> profile);
  /// A built-in name or a file. An unusable one is told in a dialog; one that is called as another is, but does
  /// something else, stands beside it with the name of its file.
  void predict(const std::string& name_or_file);
  /// All built-in schedules without known hazards.
  void predict_all();
  /// Opens the editor with a draft of a built-in schedule or a file.
  void edit(const std::string& name_or_file);
  /// The same of the prediction that is shown, else of the recorded schedule.
  void edit_shown();
  /// The draft, as a file. A failure is told in a dialog.
  void save_draft(const std::filesystem::path& file);
  void set_theme(ThemeKind kind);
  void set_colour_by(ColourBy by);
  /// Searches in both timelines and shows the first hit. A wrong pattern is told beside the field.
  void search(const QString& pattern);
  /// .png, .svg or .pdf. A failure is told in a dialog.
  void export_picture(const std::filesystem::path& file);
  /// Writes on the mark at the selection or the mouse. Notes on the recording are kept in a file beside it.
  void note(const QString& text);
  /// Recording and predictions as .html, .json or .csv. A failure is told in a dialog.
  void write_report(const std::filesystem::path& file);
  void show_help();

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] ComparePanel& timelines() const { return *panel_; }
  [[nodiscard]] ScheduleEditor& editor() const { return *editor_; }
  [[nodiscard]] const PredictionsModel& predictions() const { return predictions_; }
  [[nodiscard]] const FactsModel& details() const { return details_; }
  [[nodiscard]] const RangeModel& range() const { return range_; }
  [[nodiscard]] const BlocksModel& blocks() const { return blocks_; }
  /// Brings the table of blocks to the front.
  void show_blocks_table();
  [[nodiscard]] const DiagnosticsModel& diagnostics() const { return diagnostics_; }
  /// The dialog that tells the last failure, while it is open.
  [[nodiscard]] QMessageBox* failure_dialog() const;

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void make_menus();
  void make_tool_bar();
  void add_search_to(QToolBar& bar);
  void add_views_to(QToolBar& bar);
  void make_panels();
  /// Tables take a part of the window, the less of it the lower it is; until the user sizes them.
  void fit_tables();
  void make_status_bar();
  void make_editor();
  void connect_session();
  void add_keys(QMenu* view_menu);
  void ask_for_recordings();
  void ask_for_folder();
  void ask_for_schedule();
  void ask_for_picture();
  void ask_where_to_save_draft();
  void ask_for_report();
  void ask_for_note();
  void load_notes();
  /// Not over a file that could not be read, while it still cannot.
  void save_notes();
  void ask_where_to_save(const TablePanel& table);
  /// Whether an unsaved draft may be given up; asks where there is one.
  [[nodiscard]] bool may_drop_draft();
  void begin_draft(const schedule::Schedule& schedule);
  /// Checks and predicts the draft.
  void try_draft();
  /// Whether what is predicted under a name would be taken for that of another schedule.
  [[nodiscard]] bool is_predicted(const std::string& schedule) const;
  void show_failure(const Failure& failure);
  void show_busy(bool busy);
  void show_left_out();
  /// The arrows of tool bars that are wider than the window, which Qt draws black whatever is behind them.
  void colour_overflow_buttons();
  /// That the recording has flaws which matter, for who does not open their table.
  void show_flaws();
  /// What was predicted of the draft is not of what it says now.
  void set_draft_outdated();
  /// All that was asked for has come, or was cancelled: what of the draft is lacking then does not come any more.
  void when_finished();
  /// Only where memory is known.
  void show_memory_columns();
  /// What can be done with a recording, only where there is one; predictions only where there is something to predict
  /// from.
  void enable_actions();
  void when_opened();
  void when_predicted(const ForecastPtr& forecast);
  void show_details();
  [[nodiscard]] std::vector<FactsModel::Fact> facts_of_selection() const;
  /// Of the critical path and idle causes, while they are shown.
  [[nodiscard]] std::vector<FactsModel::Fact> facts_of_explanations() const;
  /// Why the prediction that is shown differs from the recording.
  [[nodiscard]] std::vector<FactsModel::Fact> facts_of_forecast() const;
  void show_range();
  void measure_range();
  /// Those alive at the mouse, while their table is to be seen.
  void show_blocks(Side side);
  /// Which side, rank and moment the table of blocks is of.
  void name_blocks(const QString& title);
  /// Where they are of a prediction that is shown no more.
  void drop_blocks_of_prediction();
  void show_hit_text();
  /// Cut to the room that there is; all of it is in the tool tip.
  void show_beside_search(const QString& text);
  void show_alignment();
  void remember_file();
  void fill_recent_files();
  /// The profiles to choose from, the one in use checked.
  void fill_profiles();
  void ask_for_profile();

  Session session_;
  PredictionsModel predictions_;
  FactsModel details_;
  RangeModel range_;
  BlocksModel blocks_;
  Side blocks_side_ = Side::kMeasured;  ///< that blocks_ is of
  DiagnosticsModel diagnostics_;
  std::optional<stages::Profile> profile_;         ///< of the user's; none: the one that fits
  std::vector<std::string> schedules_to_predict_;  ///< once the recording is open
  std::vector<schedule::Schedule> asked_;          ///< by name or as a file, of this recording
  std::vector<report::SkippedSchedule> left_out_;  ///< what "All" skipped
  bool notes_unread_ = false;                      ///< the file beside the recording holds what is not shown

  ComparePanel* panel_;
  ScheduleEditor* editor_;
  QDockWidget* editor_dock_ = nullptr;
  bool draft_begun_ = false;    ///< by the user; else it is what editors begin with
  bool draft_tried_ = false;    ///< from what is open
  QSplitter* parts_ = nullptr;  ///< timelines above tables
  bool tables_sized_ = false;   ///< by the user
  QTabWidget* lower_tabs_ = nullptr;
  TablePanel* predictions_table_ = nullptr;
  TablePanel* details_table_ = nullptr;
  TablePanel* range_table_ = nullptr;
  TablePanel* blocks_table_ = nullptr;
  TablePanel* quality_table_ = nullptr;
  QLabel* left_out_label_ = nullptr;
  QComboBox* schedule_box_ = nullptr;
  std::vector<QAction*> predict_actions_;
  std::vector<QAction*> recording_actions_;
  QComboBox* colour_box_ = nullptr;
  QToolButton* link_button_ = nullptr;
  QComboBox* align_box_ = nullptr;
  QLineEdit* search_field_ = nullptr;
  QLabel* hit_label_ = nullptr;
  QLabel* hover_label_ = nullptr;
  QLabel* phase_label_ = nullptr;
  QToolButton* quality_button_ = nullptr;
  QProgressBar* busy_bar_ = nullptr;
  QToolButton* cancel_button_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QMenu* profile_menu_ = nullptr;
  QTimer measuring_;  ///< until the mouse rests, where measuring takes longer than a frame
  ThemeKind theme_kind_ = ThemeKind::kLight;
};

}  // namespace interlace::gui
