#pragma once

#include <QWidget>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "gui/models/draft_model.hpp"
#include "gui/session/failure.hpp"
#include "gui/session/forecast.hpp"
#include "gui/theme/theme.hpp"

class QAction;
class QLabel;
class QLineEdit;
class QListWidget;
class QMenu;
class QTableView;
class QToolBar;

namespace interlace::gui {

/// A schedule line by line: drag rows to reorder them, edit batch, stream and waits in place, add and drop waits. What
/// checks find stands on the lines it concerns, and in full below. It knows nothing of recordings: its owner checks
/// and predicts what it says has changed.
class ScheduleEditor : public QWidget {
  Q_OBJECT

 public:
  explicit ScheduleEditor(QWidget* parent = nullptr);

  /// Begins a draft of a schedule, under a name of its own; nothing stays of the one before.
  void edit(const schedule::Schedule& schedule);
  void set_verdict(const VerdictPtr& verdict);
  /// Of the draft as it is.
  void set_forecast(const Forecast& forecast);
  void set_not_predicted(const Failure& failure);
  /// Its check was cancelled.
  void set_not_checked();
  /// What was found and predicted was so for a recording that is no longer open.
  void forget_findings();
  /// Names that a draft cannot be given, beside those of built-in schedules.
  void set_taken(std::function<bool(const std::string& name)> is_taken) { is_taken_ = std::move(is_taken); }
  void set_theme(const Theme& theme);
  void mark_saved();
  /// Takes over what stands in a cell or the name that is being edited.
  void commit_edits();

  [[nodiscard]] const schedule::Schedule& schedule() const { return model_.draft().schedule(); }
  [[nodiscard]] bool unsaved() const { return schedule() != saved_; }
  [[nodiscard]] DraftModel& model() { return model_; }
  [[nodiscard]] QTableView& table() const { return *table_; }
  [[nodiscard]] QListWidget& findings() const { return *findings_; }
  /// What the last prediction of the draft says, or why there is none.
  [[nodiscard]] QString forecast_text() const;
  [[nodiscard]] QString verdict_text() const;

 Q_SIGNALS:
  void changed();
  void save_wanted();

 private:
  void make_bar();
  void take_name();
  void make_table();
  void make_findings();
  void fill_wait_menu();
  void fill_row_menu(QMenu& menu, int row);
  void drop_wait(int row, const QString& source);
  void when_edited(std::optional<int> row);
  void show_verdict();
  void update_actions();
  void select(int row);
  [[nodiscard]] int current_row() const;
  [[nodiscard]] QColor colour_of(Gravity gravity) const;

  DraftModel model_;
  schedule::Schedule saved_;
  std::function<bool(const std::string& name)> is_taken_ = [](const std::string&) { return false; };
  const Theme* theme_;
  QToolBar* bar_;
  QLineEdit* name_;
  QLabel* forecast_;
  QLabel* summary_;
  QTableView* table_;
  QListWidget* findings_;
  QMenu* wait_menu_;
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  QAction* remove_ = nullptr;
  QAction* repair_ = nullptr;
};

}  // namespace interlace::gui
