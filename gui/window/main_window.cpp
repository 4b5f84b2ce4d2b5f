#include "gui/window/main_window.hpp"

#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QSettings>
#include <QStyleFactory>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "gui/compare/facts.hpp"
#include "gui/models/operation_facts.hpp"
#include "gui/panels/memory_strip.hpp"
#include "gui/panels/table_panel.hpp"
#include "gui/session/in_qt.hpp"
#include "gui/session/notes.hpp"
#include "gui/timeline/measure.hpp"
#include "gui/timeline/names.hpp"
#include "gui/timeline/ticks.hpp"
#include "simulator/report/memory_text.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::gui {

namespace {

const QString kRecentFiles = QStringLiteral("recent_files");
constexpr int kMostRecent = 10;

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent), panel_(new ComparePanel), editor_(new ScheduleEditor) {
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  setWindowTitle(tr("Interlace"));
  setAcceptDrops(true);
  resize(1600, 1000);
  make_panels();
  make_editor();
  make_tool_bar();
  make_menus();
  make_status_bar();
  enable_actions();
  connect_session();
  constexpr int kRestMs = 120;
  measuring_.setSingleShot(true);
  measuring_.setInterval(kRestMs);
  connect(&measuring_, &QTimer::timeout, this, &MainWindow::measure_range);
  set_theme(ThemeKind::kLight);
  panel_->set_hint(
      tr("Open recordings of a training job: File > Open, or drop PyTorch-profiler traces or .ilt files here.\n"
         "All ranks of one run at once. Then pick schedules to predict from the list above.\n"
         "File > Open the sample shows what it is like. Press ? for the keys."));
  panel_->setFocus();
}

void MainWindow::connect_session() {
  connect(&session_, &Session::progressed, this, [this](const QString& phase) { phase_label_->setText(phase); });
  connect(&session_, &Session::opened, this, &MainWindow::when_opened);
  connect(&session_, &Session::predicted, this, &MainWindow::when_predicted);
  connect(&session_, &Session::failed, this, &MainWindow::show_failure);
  connect(&session_, &Session::left_out, this, [this](const report::SkippedSchedule& schedule) {
    left_out_.push_back(schedule);
    show_left_out();
  });
  connect(&session_, &Session::finished, this, &MainWindow::when_finished);
  connect(panel_, &ComparePanel::marks_changed, this, [this](Side side) {
    if (side == Side::kMeasured) save_notes();
  });
  connect(&session_, &Session::report_written, this,
          [this](const QString& file) { hover_label_->setText(tr("%1 written").arg(file)); });
  connect(panel_, &ComparePanel::explanation_wanted, this, [this](const RunPtr& run) {
    session_.explain(run);
    show_busy(session_.busy());
  });
  connect(&session_, &Session::explained, panel_, &ComparePanel::show_explanations);
  connect(&session_, &Session::judged, editor_, &ScheduleEditor::set_verdict);
  connect(&session_, &Session::judged, this, [this](const VerdictPtr& verdict) {
    if (!verdict->can_run) set_draft_outdated();
  });
  connect(&session_, &Session::not_predicted, editor_, &ScheduleEditor::set_not_predicted);
  connect(&session_, &Session::not_predicted, this, &MainWindow::set_draft_outdated);
  connect(panel_, &ComparePanel::selection_changed, this, &MainWindow::show_details);
  connect(panel_, &ComparePanel::selection_changed, this, &MainWindow::show_hit_text);
  connect(panel_, &ComparePanel::range_changed, this, &MainWindow::show_range);
  connect(panel_, &ComparePanel::hovered, hover_label_, &QLabel::setText);
  connect(panel_, &ComparePanel::cursor_changed, this, &MainWindow::show_blocks);
  connect(panel_, &ComparePanel::linked_changed, this, [this](bool linked) { link_button_->setChecked(linked); });
  connect(panel_, &ComparePanel::forecast_closed, this, [this](const std::string& schedule) {
    predictions_.remove(schedule);
    drop_blocks_of_prediction();
  });
  connect(panel_, &ComparePanel::forecast_shown, this, [this](int tab) {
    drop_blocks_of_prediction();
    const auto row = predictions_.row_of(panel_->forecasts()[static_cast<std::size_t>(tab)]->schedule.name);
    if (row) predictions_table_->select_model_row(*row);
  });
}

void MainWindow::open(std::vector<std::filesystem::path> files, std::vector<std::string> schedules) {
  if (files.empty()) return;
  session_.cancel();
  schedules_to_predict_ = std::move(schedules);
  session_.open(std::move(files), profile_);
  show_busy(true);
}

void MainWindow::use_profile(std::optional<stages::Profile> profile) {
  profile_ = std::move(profile);
  if (session_.recorded()) open(session_.recorded()->files);
}

void MainWindow::when_opened() {
  const RecordedPtr& recorded = session_.recorded();
  predictions_.set_recorded(recorded->facts, recorded->memory);
  show_memory_columns();
  diagnostics_.set(recorded->diagnostics.entries());
  show_flaws();
  blocks_.clear();
  name_blocks(tr("Memory"));
  asked_.clear();
  left_out_.clear();
  show_left_out();
  enable_actions();
  panel_->set_recorded(recorded);
  load_notes();
  const QString name = in_qt(recorded->files.front().filename().string());
  setWindowTitle(recorded->files.size() == 1
                     ? tr("%1 - Interlace").arg(name)
                     : tr("%1 and %2 more - Interlace").arg(name).arg(recorded->files.size() - 1));
  remember_file();
  if (recorded->predictor && schedules_to_predict_.empty()) {
    hover_label_->setText(tr("Pick a schedule in the tool bar, or All, to see what it would do"));
  }
  for (const std::string& schedule : std::exchange(schedules_to_predict_, {})) {
    if (schedule != "all") {
      predict(schedule);
    } else if (recorded->predictor) {  // else enable_actions() says why not
      predict_all();
    }
  }
  editor_->forget_findings();
  draft_tried_ = false;
  if (editor_dock_->isVisible()) try_draft();  // else when it is shown
}

void MainWindow::predict(const std::string& name_or_file) {
  try {
    std::vector<schedule::Schedule> others = asked_;
    if (draft_begun_) others.push_back(editor_->schedule());
    const schedule::Schedule& asked = asked_.emplace_back(schedule::load_beside(name_or_file, others));
    session_.predict({{asked, true}});
    hover_label_->clear();
    show_busy(session_.busy());
  } catch (const Error&) {
    show_failure(failure_of(std::current_exception(), "The schedule cannot be used"));
  }
}

void MainWindow::predict_all() {
  hover_label_->clear();
  left_out_.clear();
  show_left_out();
  const std::vector<std::string> all{"all"};
  session_.predict(schedule::asked_schedules(all));
  show_busy(session_.busy());
}

void MainWindow::show_left_out() {
  QStringList reasons;
  for (const report::SkippedGroup& group : report::skipped_by_reason(left_out_)) {
    reasons << tr("%1 (%2)").arg(in_qt(group.schedules), in_qt(group.why));
  }
  const QString text = (left_out_.size() == 1 ? tr("%1 does not apply: %2") : tr("%1 do not apply: %2"))
                           .arg(left_out_.size())
                           .arg(reasons.join(QStringLiteral(", ")));
  left_out_label_->setText(text);
  left_out_label_->setToolTip(reasons.join(u'\n'));  // the line is cut where it is too long
  left_out_label_->setVisible(!reasons.isEmpty());
}

void MainWindow::enable_actions() {
  const RecordedPtr& recorded = session_.recorded();
  for (QAction* action : recording_actions_) action->setEnabled(recorded != nullptr);
  const bool enabled = recorded && recorded->predictor;
  schedule_box_->setEnabled(enabled);
  schedule_box_->setToolTip(tr("Predict a built-in schedule, or one of your own from a file"));
  for (QAction* action : predict_actions_) action->setEnabled(enabled);
  if (recorded && !enabled) {
    const QString why_not = tr("Nothing can be predicted: %1").arg(in_qt(recorded->no_predictions));
    schedule_box_->setToolTip(why_not);
    hover_label_->setText(why_not);
  }
}

void MainWindow::when_predicted(const ForecastPtr& forecast) {
  predictions_.add(forecast->row);
  predictions_.set_replayed(forecast->replayed_step_ns);
  show_memory_columns();
  if (!forecast->diagnostics.empty()) {
    std::vector<Diagnostic> found = session_.recorded()->diagnostics.entries();
    std::ranges::copy(forecast->diagnostics, std::back_inserter(found));
    diagnostics_.set(std::move(found));
    show_flaws();
  }
  panel_->add_forecast(forecast);
  if (forecast->schedule == editor_->schedule()) editor_->set_forecast(*forecast);
}

void MainWindow::set_draft_outdated() {
  panel_->set_outdated(editor_->schedule().name);
  predictions_.set_outdated(editor_->schedule().name);
}

void MainWindow::when_finished() {
  show_busy(false);
  const schedule::Schedule& draft = editor_->schedule();
  const auto is_before = [&](const ForecastPtr& of) {
    return of->schedule.name == draft.name && !schedule::same_pipeline(of->schedule, draft);
  };
  if (draft_begun_ && std::ranges::any_of(panel_->forecasts(), is_before)) set_draft_outdated();
  if (!draft_tried_ || editor_->model().verdict()) return;
  editor_->set_not_checked();
  draft_tried_ = false;
}

void MainWindow::show_memory_columns() {
  for (const auto column : {PredictionsModel::kAllocated, PredictionsModel::kReserved}) {
    predictions_table_->table().setColumnHidden(column, !predictions_.has_numbers(column));
  }
}

void MainWindow::show_busy(bool busy) {
  busy_bar_->setVisible(busy);
  cancel_button_->setVisible(busy);
  if (!busy) phase_label_->clear();
}

void MainWindow::show_failure(const Failure& failure) {
  // A dialog of its own that blocks nothing but this window; several failures are told one after the other.
  auto* dialog = new QMessageBox(QMessageBox::Warning, tr("Interlace"), in_qt(failure.title), QMessageBox::Ok, this);
  dialog->setInformativeText(in_qt(text_of(failure)));
  dialog->setTextInteractionFlags(Qt::TextSelectableByMouse);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("failure"));
  dialog->open();
}

QMessageBox* MainWindow::failure_dialog() const { return findChild<QMessageBox*>(QStringLiteral("failure")); }

void MainWindow::show_details() {
  std::vector<FactsModel::Fact> facts = facts_of_selection();
  if (facts.empty()) {
    facts = facts_of_explanations();
    for (FactsModel::Fact& fact : facts_of_forecast()) facts.push_back(std::move(fact));
  }
  details_.set(std::move(facts));
}

std::vector<FactsModel::Fact> MainWindow::facts_of_explanations() const {
  std::vector<FactsModel::Fact> facts;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    const RunPtr& run = panel_->pane(side).run();
    if (!run) continue;
    const QString whose = side == Side::kMeasured ? tr("measured %1") : tr("predicted %1");
    std::vector<std::pair<std::string, std::string>> lines;
    if (panel_->critical_shown()) lines = critical_facts(*run, panel_->aligned_step());
    if (panel_->idle_shown()) std::ranges::copy(idle_facts(*run, panel_->aligned_step()), std::back_inserter(lines));
    for (const auto& [what, text] : lines) facts.emplace_back(whose.arg(in_qt(what)), in_qt(text));
  }
  return facts;
}

std::vector<FactsModel::Fact> MainWindow::facts_of_selection() const {
  const Side side = panel_->active();
  const TimelinePane& pane = panel_->pane(side);
  std::vector<FactsModel::Fact> facts;
  if (!pane.run() || !pane.selected()) return facts;
  const PaneContent content = pane.content();
  const std::vector<Dependency> arrows(content.arrows.begin(), content.arrows.end());
  for (const auto& [what, text] : facts_of_operation(*pane.run(), *pane.selected(), content.anchor, arrows)) {
    facts.emplace_back(in_qt(what), in_qt(text));
  }
  constexpr qsizetype kMostOfName = 160;
  if (facts.front().text.size() > kMostOfName) {
    facts.front().whole = std::exchange(facts.front().text, in_qt(line_name(pane.run()->trace(), *pane.selected())));
  }
  if (const auto same = panel_->counterpart_of(side, *pane.selected())) {
    const PaneContent there = panel_->pane(other(side)).content();
    const std::string change =
        change_text(pane.run()->trace(), *pane.selected(), content.anchor, there.scene->trace(), *same, there.anchor);
    facts.emplace(facts.begin() + 3, side == Side::kMeasured ? tr("predicted") : tr("than measured"), in_qt(change));
  }
  return facts;
}

std::vector<FactsModel::Fact> MainWindow::facts_of_forecast() const {
  std::vector<FactsModel::Fact> facts;
  const int shown = panel_->shown_forecast();
  if (shown < 0) return facts;
  const Forecast& forecast = *panel_->forecasts()[static_cast<std::size_t>(shown)];
  facts.emplace_back(tr("schedule"), in_qt(forecast.schedule.name));
  QStringList won;
  for (const auto& [stage, time] : panel_->comparison().won()) {
    won << tr("%1 in %2").arg(in_qt(duration_text(time)), in_qt(stage));
  }
  if (!won.isEmpty()) facts.emplace_back(tr("won"), won.join(QStringLiteral(", ")));
  for (const std::string& reason : forecast.row.reasons) facts.emplace_back(tr("why"), in_qt(reason));
  for (const std::string& hazard : forecast.row.hazards) facts.emplace_back(tr("hazard"), in_qt(hazard));
  for (const std::string& hazard : forecast.row.known_hazards) facts.emplace_back(tr("known hazard"), in_qt(hazard));
  for (const std::string& line : report::memory_lines(forecast.row, std::nullopt)) {
    facts.emplace_back(tr("memory"), in_qt(line));
  }
  for (const std::string& race : forecast.row.races) facts.emplace_back(tr("race"), in_qt(race));
  if (!forecast.schedule.description.empty()) facts.emplace_back(tr("is"), in_qt(forecast.schedule.description));
  return facts;
}

void MainWindow::show_range() {
  constexpr std::size_t kMostAtOnce = 300'000;
  const RunPtr& run = panel_->pane(panel_->active()).run();
  if (run && run->trace().size() > kMostAtOnce) {
    measuring_.start();
  } else {
    measure_range();
  }
}

void MainWindow::measure_range() {
  const TimelinePane& pane = panel_->pane(panel_->active());
  if (!pane.run() || !pane.range()) {
    range_.clear();
    return;
  }
  const trace::Trace& trace = pane.run()->trace();
  range_.set(trace, measure(trace, pane.run()->scene().lanes(), pane.range()->rows, pane.range()->span));
  lower_tabs_->setCurrentWidget(range_table_);
}

void MainWindow::show_blocks(Side side) {
  const MemoryStrip& memory = panel_->memory(side);
  const auto at = panel_->cursor_time();
  // What was under the mouse stays to be read while the mouse goes there.
  if (!memory.has_memory() || !at || lower_tabs_->currentWidget() != blocks_table_) return;
  const PaneContent content = panel_->pane(side).content();
  const RunPtr& run = panel_->pane(side).run();
  if (*at < 0 || *at > run->trace().length()) {
    blocks_.clear();
    name_blocks(tr("Memory"));
    return;
  }
  blocks_.set(run, memory.curve(), *at, content.anchor);
  blocks_side_ = side;
  const int rank = run->trace().ranks()[run->memory()[memory.curve()].rank.index()].number;
  name_blocks(tr("Memory of %1, rank %2 at %3")
                  .arg(side == Side::kMeasured ? tr("measured") : in_qt(run->title()))
                  .arg(rank)
                  .arg(in_qt(duration_text(*at - content.anchor))));
}

void MainWindow::name_blocks(const QString& title) {
  lower_tabs_->setTabText(lower_tabs_->indexOf(blocks_table_), title);
}

void MainWindow::drop_blocks_of_prediction() {
  if (blocks_side_ != Side::kPredicted) return;
  blocks_.clear();
  name_blocks(tr("Memory"));
}

void MainWindow::show_blocks_table() { lower_tabs_->setCurrentWidget(blocks_table_); }

void MainWindow::search(const QString& pattern) {
  try {
    panel_->search(pattern);
  } catch (const Error& error) {
    show_beside_search(in_qt(error.problem()));
    return;
  }
  if (!pattern.isEmpty()) panel_->show_hit(true);
  show_hit_text();
}

void MainWindow::show_hit_text() { show_beside_search(panel_->hit_text()); }

void MainWindow::show_beside_search(const QString& text) {
  hit_label_->setText(hit_label_->fontMetrics().elidedText(text, Qt::ElideRight, hit_label_->width()));
  hit_label_->setToolTip(text);
}

void MainWindow::export_picture(const std::filesystem::path& file) {
  try {
    write_picture(panel_->picture(), file);
    hover_label_->setText(tr("%1 written").arg(in_qt(file.string())));
  } catch (const std::exception&) {
    show_failure(failure_of(std::current_exception(), "The picture cannot be written"));
  }
}

void MainWindow::note(const QString& text) {
  if (panel_->pane(panel_->active()).run()) panel_->set_note(panel_->mark_place(), text.toStdString());
}

void MainWindow::load_notes() {
  notes_unread_ = true;
  try {
    panel_->set_marks(read_notes(notes_file(session_.recorded()->files.front())));
    notes_unread_ = false;
  } catch (const std::exception&) {
    show_failure(failure_of(std::current_exception(), "The notes on the recording cannot be shown"));
  }
}

void MainWindow::save_notes() {
  try {
    const std::filesystem::path file = notes_file(session_.recorded()->files.front());
    if (notes_unread_) {
      // Throws as it did before, until somebody has mended the file or moved it away.
      std::vector<Mark> notes = read_notes(file);
      std::ranges::copy(panel_->marks(Side::kMeasured), std::back_inserter(notes));
      panel_->set_marks(std::move(notes));
      notes_unread_ = false;
    }
    write_notes(panel_->marks(Side::kMeasured), file);
  } catch (const std::exception&) {
    show_failure(failure_of(std::current_exception(), "The note is not kept"));
  }
}

void MainWindow::write_report(const std::filesystem::path& file) {
  std::vector<ForecastPtr> forecasts = panel_->forecasts();
  for (ForecastPtr& forecast : forecasts) {
    if (!panel_->is_outdated(forecast->schedule.name)) continue;
    Forecast named = *forecast;
    named.schedule.name += tr(" (before the last edit)").toStdString();
    named.row.schedule = named.schedule.name;
    forecast = std::make_shared<const Forecast>(std::move(named));
  }
  session_.write_report(std::move(forecasts), left_out_, file);
  show_busy(session_.busy());
}

void MainWindow::set_theme(ThemeKind kind) {
  theme_kind_ = kind;
  QApplication::setPalette(widget_palette(theme(kind)));
  panel_->set_theme(theme(kind));
  editor_->set_theme(theme(kind));
  colour_overflow_buttons();
  show_flaws();
}

void MainWindow::set_colour_by(ColourBy by) {
  panel_->set_colour_by(by);
  colour_box_->setCurrentIndex(static_cast<int>(by));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  std::vector<std::filesystem::path> recordings;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) recordings.emplace_back(url.toLocalFile().toStdString());
  }
  event->acceptProposedAction();
  open(std::move(recordings));
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  layout()->activate();  // so that the parts have their new height
  fit_tables();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!may_drop_draft()) {
    event->ignore();
    return;
  }
  session_.cancel();
  QMainWindow::closeEvent(event);
}

void MainWindow::remember_file() {
  QStringList files;
  for (const auto& file : session_.recorded()->files) {
    files << QFileInfo(in_qt(file.string())).absoluteFilePath();
  }
  QSettings settings;
  QStringList recent = settings.value(kRecentFiles).toStringList();
  const QString entry = files.join(u'\n');
  recent.removeAll(entry);
  recent.prepend(entry);
  while (recent.size() > kMostRecent) recent.removeLast();
  settings.setValue(kRecentFiles, recent);
}

void MainWindow::fill_recent_files() {
  recent_menu_->clear();
  const QStringList recent = QSettings().value(kRecentFiles).toStringList();
  for (const QString& entry : recent) {
    const QStringList files = entry.split(u'\n');
    const QString first = QFileInfo(files.first()).fileName();
    const QString text = files.size() == 1 ? first : tr("%1 and %2 more").arg(first).arg(files.size() - 1);
    QAction* action = recent_menu_->addAction(text);
    action->setToolTip(entry);
    connect(action, &QAction::triggered, this, [this, files] {
      std::vector<std::filesystem::path> paths;
      for (const QString& file : files) paths.emplace_back(file.toStdString());
      open(std::move(paths));
    });
  }
  if (recent.isEmpty()) recent_menu_->addAction(tr("nothing opened yet"))->setEnabled(false);
}

}  // namespace interlace::gui
