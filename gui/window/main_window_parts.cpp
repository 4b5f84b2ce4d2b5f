// Menus and panels of the window, and the dialogs that ask for files.
#include <QComboBox>
#include <QCoreApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/panels/table_panel.hpp"
#include "gui/session/in_qt.hpp"
#include "gui/session/sample.hpp"
#include "gui/session/save_schedule.hpp"
#include "gui/window/actions.hpp"
#include "gui/window/help_dialog.hpp"
#include "gui/window/main_window.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::gui {

void MainWindow::make_panels() {
  predictions_table_ = new TablePanel(&predictions_, {}, true);
  details_table_ = new TablePanel(&details_, {1}, false);
  details_table_->table().horizontalHeader()->hide();
  details_table_->wrap_words();
  range_table_ = new TablePanel(&range_, {RangeModel::kName}, true);
  blocks_table_ = new TablePanel(&blocks_, {BlocksModel::kStage}, true);
  quality_table_ = new TablePanel(
      &diagnostics_, {DiagnosticsModel::kMeaning, DiagnosticsModel::kAdvice, DiagnosticsModel::kFirstPlace}, false);
  quality_table_->wrap_words();
  quality_table_->table().setTextElideMode(Qt::ElideLeft);  // the end of a path tells more
  for (const TablePanel* table : {predictions_table_, details_table_, range_table_, blocks_table_, quality_table_}) {
    connect(table, &TablePanel::save_wanted, this, [this, table] { ask_where_to_save(*table); });
  }
  predictions_table_->set_hint(
      tr("What schedules would do stands here, a line each: open a recording, then pick schedules in the tool bar"));
  details_table_->set_hint(tr("What is known of an operation stands here: click on one in a timeline"));
  range_table_->set_hint(
      tr("What runs in a range stands here, by name: drag on the time axis, or with Shift on the rows of interest"));
  blocks_table_->set_hint(
      tr("The blocks of memory alive at the pointer stand here: move it over a timeline of a recording that holds "
         "allocations (profile_memory=True, or a memory snapshot opened with it)"));
  quality_table_->set_hint(tr("What a recording lacks stands here, with what to do about it"));
  lower_tabs_ = new QTabWidget;
  lower_tabs_->setDocumentMode(true);
  lower_tabs_->setFocusPolicy(Qt::NoFocus);
  left_out_label_ = new QLabel;
  left_out_label_->setObjectName(QStringLiteral("left_out"));
  left_out_label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  left_out_label_->setContentsMargins(4, 0, 4, 2);
  left_out_label_->hide();
  auto* predicted = new QWidget;
  auto* column = new QVBoxLayout(predicted);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(predictions_table_);
  column->addWidget(left_out_label_);
  lower_tabs_->addTab(predicted, tr("Predictions"));
  lower_tabs_->addTab(range_table_, tr("Range"));
  lower_tabs_->addTab(blocks_table_, tr("Memory"));
  lower_tabs_->addTab(quality_table_, tr("Data quality"));
  auto* lower = new QSplitter(Qt::Horizontal);
  lower->addWidget(lower_tabs_);
  lower->addWidget(details_table_);
  lower->setStretchFactor(0, 3);
  lower->setStretchFactor(1, 2);
  parts_ = new QSplitter(Qt::Vertical);
  parts_->addWidget(panel_);
  parts_->addWidget(lower);
  parts_->setStretchFactor(0, 1);
  connect(parts_, &QSplitter::splitterMoved, this, [this] { tables_sized_ = true; });
  setCentralWidget(parts_);
  connect(predictions_table_, &TablePanel::row_chosen, this, [this](int row) {
    const report::Prediction* chosen = predictions_.prediction(row);
    if (chosen == nullptr) return;
    const auto& forecasts = panel_->forecasts();
    for (std::size_t tab = 0; tab < forecasts.size(); ++tab) {
      if (forecasts[tab]->schedule.name == chosen->schedule) panel_->show_forecast(static_cast<int>(tab));
    }
  });
}

void MainWindow::fit_tables() {
  constexpr int kMost = 190;
  constexpr int kLeast = 110;  // the tabs, a header and two lines
  constexpr int kPart = 5;
  if (tables_sized_) return;
  const int tables = std::clamp(parts_->height() / kPart, kLeast, kMost);
  parts_->setSizes({parts_->height() - tables, tables});
}

void MainWindow::make_menus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("Open recordings..."), QKeySequence::Open, this, &MainWindow::ask_for_recordings);
  file->addAction(tr("Open folder..."), QKeySequence(tr("Ctrl+Shift+O")), this, &MainWindow::ask_for_folder)
      ->setObjectName(QStringLiteral("open_folder"));
  recent_menu_ = file->addMenu(tr("Recent"));
  recent_menu_->setObjectName(QStringLiteral("recent"));
  connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_recent_files);
  fill_recent_files();
  const auto sample = sample_recording(QCoreApplication::applicationDirPath().toStdString());
  if (!sample.empty()) {
    file->addAction(tr("Open the sample"), this, [this, sample] { open(sample); })
        ->setObjectName(QStringLiteral("open_sample"));
  }
  profile_menu_ = file->addMenu(tr("Annotations"));
  profile_menu_->setObjectName(QStringLiteral("profiles"));
  connect(profile_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_profiles);
  fill_profiles();
  file->addSeparator();
  recording_actions_ = {
      file->addAction(tr("Export picture..."), QKeySequence(tr("Ctrl+E")), this, &MainWindow::ask_for_picture),
      file->addAction(tr("Write report..."), QKeySequence(tr("Ctrl+R")), this, &MainWindow::ask_for_report)};
  file->addAction(tr("Copy predictions as CSV"), this, [this] { predictions_table_->copy(); });
  file->addSeparator();
  file->addAction(tr("Quit"), QKeySequence::Quit, this, &QWidget::close);
  QMenu* predict_menu = menuBar()->addMenu(tr("&Predict"));
  predict_actions_.push_back(predict_menu->addAction(tr("All built-in schedules"), this, &MainWindow::predict_all));
  predict_actions_.push_back(predict_menu->addAction(tr("Schedule from file..."), this, &MainWindow::ask_for_schedule));
  predict_menu->addSeparator();
  predict_menu->addAction(tr("Edit the schedule that is shown"), this, &MainWindow::edit_shown);
  QAction* shown = editor_dock_->toggleViewAction();
  shown->setText(tr("Schedule editor"));
  predict_menu->addAction(shown);
  QMenu* view = menuBar()->addMenu(tr("&View"));
  add_keys(view);
  view->addSeparator();
  view->addAction(tr("Light or dark"), this,
                  [this] { set_theme(theme_kind_ == ThemeKind::kLight ? ThemeKind::kDark : ThemeKind::kLight); });
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("Keys and mouse"), this, &MainWindow::show_help);
}

void MainWindow::add_keys(QMenu* view_menu) {
  const auto add = [&](QMenu* menu, const KeyAction& of) {
    QAction* action = menu->addAction(of.text, this, of.run);
    action->setShortcuts(of.keys);
    // Letters are commands only while the timelines have the focus, not in text fields.
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    panel_->addAction(action);
  };
  QMenu* menu = nullptr;
  QString group;
  for (const KeyAction& of : timeline_actions(*panel_)) {
    if (menu == nullptr || of.group != group) menu = view_menu->addMenu(of.group);
    group = of.group;
    add(menu, of);
  }
  QMenu* find = view_menu->addMenu(tr("Find"));
  add(find, {{}, tr("Search"), {QKeySequence(tr("/")), QKeySequence::Find}, [this] {
               search_field_->setFocus();
               search_field_->selectAll();
             }});
  add(find, {{}, tr("Next hit"), {QKeySequence(tr("N"))}, [this] { panel_->show_hit(true); }});
  add(find, {{}, tr("Previous hit"), {QKeySequence(tr("Shift+N"))}, [this] { panel_->show_hit(false); }});
  add(find, {{}, tr("Next colours"), {QKeySequence(tr("C"))}, [this] {
               set_colour_by(static_cast<ColourBy>((colour_box_->currentIndex() + 1) % colour_box_->count()));
             }});
  add(find, {{}, tr("Write a note"), {QKeySequence(tr("T"))}, [this] { ask_for_note(); }});
  add(find, {{}, tr("Keys and mouse"), {QKeySequence(tr("?")), QKeySequence::HelpContents}, [this] { show_help(); }});
}

void MainWindow::show_help() {
  auto* dialog = new HelpDialog(timeline_actions(*panel_), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void MainWindow::ask_for_recordings() {
  const QStringList chosen = QFileDialog::getOpenFileNames(
      this, tr("Open the recordings of a run, all ranks at once"), {},
      tr("Recordings and memory snapshots (*.json *.json.gz *.ilt *.sqlite *.sqlite.gz *.pickle);;All files (*)"));
  std::vector<std::filesystem::path> files;
  for (const QString& file : chosen) files.emplace_back(file.toStdString());
  open(std::move(files));
}

void MainWindow::ask_for_folder() {
  const QString chosen =
      QFileDialog::getExistingDirectory(this, tr("Open the folder that holds the recordings of a run"));
  if (!chosen.isEmpty()) open({chosen.toStdString()});
}

void MainWindow::fill_profiles() {
  profile_menu_->clear();
  const auto add = [&](const QString& text, bool in_use, const std::optional<stages::Profile>& profile) {
    QAction* action = profile_menu_->addAction(text, this, [this, profile] { use_profile(profile); });
    action->setCheckable(true);
    action->setChecked(in_use);
  };
  add(tr("as the recording has them"), !profile_, std::nullopt);
  bool known = !profile_;
  for (const std::string_view name : stages::kBuiltInProfiles) {
    const bool in_use = profile_ && profile_->name == name;
    known = known || in_use;
    add(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())), in_use,
        stages::load_profile(std::string(name)));
  }
  if (!known) add(in_qt(profile_->name), true, profile_);
  profile_menu_->addAction(tr("by a profile from file..."), this, &MainWindow::ask_for_profile);
}

void MainWindow::ask_for_profile() {
  const QString chosen = QFileDialog::getOpenFileName(this, tr("Choose how the recorded code annotates its stages"), {},
                                                      tr("Annotation profiles (*.json);;All files (*)"));
  if (chosen.isEmpty()) return;
  try {
    use_profile(stages::read_profile(chosen.toStdString()));
  } catch (const Error&) {
    show_failure(failure_of(std::current_exception(), "The annotation profile cannot be used"));
  }
}

void MainWindow::ask_for_schedule() {
  const QString chosen =
      QFileDialog::getOpenFileName(this, tr("Predict a schedule"), {}, tr("Schedules (*.json);;All files (*)"));
  if (!chosen.isEmpty()) predict(chosen.toStdString());
}

void MainWindow::ask_for_picture() {
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Export what is seen, with all rows"), QStringLiteral("timeline.png"),
                                   tr("Pictures (*.png *.svg *.pdf)"));
  if (!chosen.isEmpty()) export_picture(chosen.toStdString());
}

void MainWindow::ask_for_note() {
  const auto shown = [this] { return panel_->pane(panel_->active()).run(); };
  const RunPtr of = shown();
  if (!of) return;
  const Nanoseconds at = panel_->mark_place();  // the mouse leaves the timeline for the dialog
  bool given = false;
  const QString text = QInputDialog::getText(this, tr("Note"), tr("On the mark at the selection, else at the mouse"),
                                             QLineEdit::Normal, {}, &given);
  if (!given || text.isEmpty()) return;
  if (shown() == of) {
    panel_->set_note(at, text.toStdString());
  } else {  // a recording or a prediction has come in meanwhile
    hover_label_->setText(tr("The note is not kept: its timeline is no longer shown"));
  }
}

void MainWindow::ask_for_report() {
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Write recording and predictions as a report"),
                                   QStringLiteral("report.html"), tr("Reports (*.html *.json *.csv)"));
  if (!chosen.isEmpty()) write_report(chosen.toStdString());
}

void MainWindow::ask_where_to_save(const TablePanel& table) {
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Save the table"), QStringLiteral("table.csv"), tr("Tables (*.csv)"));
  if (chosen.isEmpty()) return;
  try {
    table.save(chosen.toStdString());
    hover_label_->setText(tr("%1 written").arg(chosen));
  } catch (const Error&) {
    show_failure(failure_of(std::current_exception(), "The table cannot be written"));
  }
}

void MainWindow::make_editor() {
  editor_dock_ = new QDockWidget(tr("Schedule editor"), this);
  editor_dock_->setWidget(editor_);
  editor_dock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable |
                            QDockWidget::DockWidgetFloatable);
  addDockWidget(Qt::RightDockWidgetArea, editor_dock_);
  editor_dock_->hide();
  editor_->set_taken([this](const std::string& name) { return is_predicted(name); });
  connect(editor_, &ScheduleEditor::changed, this, &MainWindow::try_draft);
  connect(editor_dock_, &QDockWidget::visibilityChanged, this, [this](bool visible) {
    if (visible && !draft_tried_) try_draft();
  });
  connect(editor_, &ScheduleEditor::save_wanted, this, &MainWindow::ask_where_to_save_draft);
}

void MainWindow::try_draft() {
  draft_begun_ = true;
  draft_tried_ = true;
  session_.try_out(editor_->schedule());
  show_busy(session_.busy());
}

bool MainWindow::is_predicted(const std::string& schedule) const {
  return std::ranges::any_of(panel_->forecasts(), [&](const ForecastPtr& of) { return of->schedule.name == schedule; });
}

void MainWindow::begin_draft(const schedule::Schedule& schedule) {
  constexpr int kWidth = 640;
  if (!may_drop_draft()) return;
  editor_->edit(schedule);
  if (!editor_dock_->isVisible()) {
    editor_dock_->show();
    resizeDocks({editor_dock_}, {kWidth}, Qt::Horizontal);
  }
}

void MainWindow::edit(const std::string& name_or_file) {
  try {
    begin_draft(schedule::load(name_or_file));
  } catch (const Error&) {
    show_failure(failure_of(std::current_exception(), "The schedule cannot be edited"));
  }
}

void MainWindow::edit_shown() {
  const int shown = panel_->shown_forecast();
  const RecordedPtr& recorded = session_.recorded();
  if (shown >= 0) {
    begin_draft(panel_->forecasts()[static_cast<std::size_t>(shown)]->schedule);
  } else {
    begin_draft(recorded && recorded->schedule ? *recorded->schedule : schedule::find("torchrec/base"));
  }
}

bool MainWindow::may_drop_draft() {
  editor_->commit_edits();
  if (!editor_->unsaved()) return true;
  return QMessageBox::question(this, tr("Interlace"),
                               tr("%1 has been edited and not saved.").arg(in_qt(editor_->schedule().name)),
                               QMessageBox::Discard | QMessageBox::Cancel) == QMessageBox::Discard;
}

void MainWindow::save_draft(const std::filesystem::path& file) {
  try {
    save_schedule(editor_->schedule(), session_.one_rank(), file);
    editor_->mark_saved();
    hover_label_->setText(tr("%1 written").arg(in_qt(file.string())));
  } catch (const Error&) {
    show_failure(failure_of(std::current_exception(), "The schedule cannot be saved"));
  }
}

void MainWindow::ask_where_to_save_draft() {
  const std::string& name = editor_->schedule().name;
  const QString proposed = in_qt(name.substr(name.rfind('/') + 1) + ".json");
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Save the schedule"), proposed, tr("Schedules (*.json)"));
  if (!chosen.isEmpty()) save_draft(chosen.toStdString());
}

}  // namespace interlace::gui
