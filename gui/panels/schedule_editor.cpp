#include "gui/panels/schedule_editor.hpp"

#include <QAction>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSplitter>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/compare/facts.hpp"
#include "gui/panels/draft_delegate.hpp"
#include "gui/session/in_qt.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::gui {

namespace {

QString title_of(Gravity gravity) {
  switch (gravity) {
    case Gravity::kWrong: return QObject::tr("cannot run");
    case Gravity::kHazard: return QObject::tr("race");
    case Gravity::kKnown: return QObject::tr("known hazard");
    case Gravity::kNumbers: return QObject::tr("numbers");
    case Gravity::kHint: return QObject::tr("hint");
    case Gravity::kNote: return QObject::tr("note");
  }
  return {};
}

QString counted(std::size_t count, const QString& one, const QString& more) {
  return QStringLiteral("%1 %2").arg(count).arg(count == 1 ? one : more);
}

QLabel* line_of_text() {
  auto* label = new QLabel;
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setContentsMargins(6, 0, 6, 0);
  label->setWordWrap(true);
  return label;
}

}  // namespace

ScheduleEditor::ScheduleEditor(QWidget* parent)
    : QWidget(parent),
      model_(Draft(schedule::find("torchrec/base"))),
      saved_(model_.draft().schedule()),
      theme_(&theme(ThemeKind::kLight)),
      bar_(new QToolBar),
      name_(new QLineEdit),
      forecast_(line_of_text()),
      summary_(line_of_text()),
      table_(new QTableView),
      findings_(new QListWidget),
      wait_menu_(new QMenu(this)) {
  summary_->setObjectName(QStringLiteral("verdict"));
  make_bar();
  make_table();
  make_findings();
  auto* parts = new QSplitter(Qt::Vertical);
  parts->addWidget(table_);
  parts->addWidget(findings_);
  parts->setStretchFactor(0, 3);
  parts->setStretchFactor(1, 2);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(2);
  all->addWidget(bar_);
  all->addWidget(forecast_);
  all->addWidget(summary_);
  all->addWidget(parts, 1);
  connect(&model_, &DraftModel::edited, this, &ScheduleEditor::when_edited);
  show_verdict();
}

void ScheduleEditor::make_bar() {
  bar_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  name_->setToolTip(tr("The name of the schedule; those of built-in and of predicted ones are taken"));
  connect(name_, &QLineEdit::editingFinished, this, &ScheduleEditor::take_name);
  bar_->addWidget(name_);
  const auto add = [this](const QString& text, const QKeySequence& key, const QString& tip, auto run) {
    QAction* action = bar_->addAction(text, this, run);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    action->setToolTip(key.isEmpty() ? tip : tip + QStringLiteral(" (%1)").arg(key.toString()));
    addAction(action);
    return action;
  };
  undo_ = add(tr("Undo"), QKeySequence::Undo, tr("Take the last edit back"), [this] { model_.undo(); });
  redo_ = add(tr("Redo"), QKeySequence(tr("Ctrl+Shift+Z")), tr("Do it again"), [this] { model_.redo(); });
  auto* wait = new QToolButton;
  wait->setText(tr("Add wait"));
  wait->setToolTip(tr("A wait above the line that is chosen"));
  wait->setPopupMode(QToolButton::InstantPopup);
  wait->setMenu(wait_menu_);
  connect(wait_menu_, &QMenu::aboutToShow, this, &ScheduleEditor::fill_wait_menu);
  bar_->addWidget(wait);
  add(tr("Add stream"), {}, tr("A further stream to put steps on"), [this] {
    const QString name = QInputDialog::getText(this, tr("Add a stream"), tr("Name"));
    if (!name.isEmpty()) model_.add_stream(name.trimmed());
  });
  remove_ = add(tr("Drop"), QKeySequence(Qt::Key_Delete), tr("Take the line away"),
                [this] { model_.remove_row(current_row()); });
  repair_ = add(tr("Repair"), {}, tr("Add the waits that the checker proposes"), [this] { model_.repair(); });
  add(tr("Save..."), {}, tr("As a file that runs on GPUs"), [this] {
    commit_edits();  // buttons of a tool bar do not take the keyboard from what is edited
    Q_EMIT save_wanted();
  });
  const auto add_move = [this](const QKeySequence& key, bool up) {
    auto* action = new QAction(this);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, [this, up] { model_.move_row_by_one(current_row(), up); });
    addAction(action);
  };
  add_move(QKeySequence(tr("Alt+Up")), true);
  add_move(QKeySequence(tr("Alt+Down")), false);
}

void ScheduleEditor::take_name() {
  const QString name = name_->text().trimmed();
  if (is_taken_(name.toStdString()) || !model_.rename(name)) name_->setText(in_qt(schedule().name));
}

void ScheduleEditor::commit_edits() {
  static_cast<DraftDelegate*>(table_->itemDelegate())->commit_open();
  take_name();
}

void ScheduleEditor::make_table() {
  table_->setModel(&model_);
  table_->setItemDelegate(new DraftDelegate(table_));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setDragDropMode(QAbstractItemView::InternalMove);
  table_->setDragDropOverwriteMode(false);
  table_->setDropIndicatorShown(true);
  table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setFrameShape(QFrame::NoFrame);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(22);
  QHeaderView* header = table_->horizontalHeader();
  header->setHighlightSections(false);
  for (int column = 0; column < DraftModel::kColumns; ++column) {
    header->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  }
  header->setSectionResizeMode(DraftModel::kMore, QHeaderView::Interactive);
  header->setSectionResizeMode(DraftModel::kFinding, QHeaderView::Stretch);
  header->resizeSection(DraftModel::kMore, 90);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(table_, &QTableView::customContextMenuRequested, this, [this](QPoint at) {
    const QModelIndex index = table_->indexAt(at);
    if (!index.isValid()) return;
    QMenu menu;
    fill_row_menu(menu, index.row());
    menu.exec(table_->viewport()->mapToGlobal(at));
  });
}

void ScheduleEditor::make_findings() {
  findings_->setWordWrap(true);
  findings_->setFrameShape(QFrame::NoFrame);
  findings_->setTextElideMode(Qt::ElideNone);
  findings_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(findings_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item != nullptr && item->data(Qt::UserRole).toInt() > 0) select(item->data(Qt::UserRole).toInt() - 1);
  });
}

void ScheduleEditor::fill_wait_menu() {
  wait_menu_->clear();
  const int row = current_row();
  QStringList streams;
  for (const schedule::Stream& stream : schedule().streams) streams << in_qt(stream.name);
  for (const QString& waiter : streams + QStringList(QStringLiteral("host"))) {
    QMenu* sources = wait_menu_->addMenu(tr("%1 waits for").arg(waiter));
    for (const QString& source : streams) {
      if (source == waiter) continue;
      sources->addAction(source, this,
                         [this, row, waiter, source] { model_.add_wait(std::max(row, 0), waiter, source); });
    }
  }
}

void ScheduleEditor::fill_row_menu(QMenu& menu, int row) {
  const schedule::Step& step = model_.draft().step(static_cast<std::size_t>(row));
  if (const auto* stage = std::get_if<schedule::StageStep>(&step.action)) {
    for (const schedule::StreamIndex source : stage->after) {
      const QString name = in_qt(schedule().stream(source).name);
      menu.addAction(tr("Drop the wait for %1").arg(name), this, [this, row, name] { drop_wait(row, name); });
    }
  }
  menu.addAction(tr("Drop the line"), this, [this, row] { model_.remove_row(row); });
}

void ScheduleEditor::drop_wait(int row, const QString& source) {
  const QModelIndex cell = model_.index(row, DraftModel::kWaitsFor);
  QStringList left = cell.data(Qt::EditRole).toString().split(QStringLiteral(", "));
  left.removeAll(source);
  model_.setData(cell, left.join(u','));
}

void ScheduleEditor::edit(const schedule::Schedule& schedule) {
  Draft draft(schedule);
  saved_ = draft.schedule();
  model_.set_draft(std::move(draft));
}

void ScheduleEditor::when_edited(std::optional<int> row) {
  name_->setText(in_qt(schedule().name));
  forecast_->clear();
  show_verdict();
  // Not where it is chosen already: that would close the cell under edit.
  if (row && *row < model_.rowCount() && *row != current_row()) select(*row);
  Q_EMIT changed();
}

void ScheduleEditor::set_verdict(const VerdictPtr& verdict) {
  model_.set_verdict(verdict);
  show_verdict();
}

void ScheduleEditor::show_verdict() {
  findings_->clear();
  const VerdictPtr& verdict = model_.verdict();
  update_actions();
  if (!verdict) {
    summary_->clear();
    return;
  }
  QStringList words;
  const auto say = [&](std::size_t count, const QString& one, const QString& more) {
    if (count > 0) words << counted(count, one, more);
  };
  say(verdict->count(Gravity::kWrong), tr("reason why it cannot run"), tr("reasons why it cannot run"));
  say(verdict->count_lines(Gravity::kHazard), tr("line races"), tr("lines race"));
  say(verdict->known_hazards, tr("known hazard"), tr("known hazards"));
  const bool numbers_differ = verdict->count(Gravity::kNumbers) > 0;
  if (numbers_differ) words << tr("numbers differ from a synchronous loop");
  say(verdict->count(Gravity::kHint), tr("hint"), tr("hints"));
  const bool sound = verdict->can_run && verdict->count(Gravity::kHazard) == 0;
  const bool plain = !numbers_differ && verdict->known_hazards == 0;
  if (sound) words.prepend(tr("free of races"));
  summary_->setText(words.join(QStringLiteral(" · ")));
  QPalette palette = summary_->palette();
  palette.setColor(QPalette::WindowText, !sound ? theme_->bad : plain ? theme_->good : theme_->text);
  summary_->setPalette(palette);
  std::vector<Remark> remarks = verdict->remarks;
  std::ranges::stable_sort(remarks, std::ranges::greater{}, &Remark::gravity);
  for (const Remark& remark : remarks) {
    const QString place = remark.line > 0 ? tr("line %1 · ").arg(remark.line) : QString();
    auto* item = new QListWidgetItem(place + title_of(remark.gravity) + QStringLiteral(": ") + in_qt(remark.text));
    item->setData(Qt::UserRole, remark.line);
    item->setForeground(colour_of(remark.gravity));
    findings_->addItem(item);
  }
}

QColor ScheduleEditor::colour_of(Gravity gravity) const {
  if (gravity >= Gravity::kHazard) return theme_->bad;
  return gravity >= Gravity::kNumbers ? theme_->text : theme_->dim_text;
}

void ScheduleEditor::set_forecast(const Forecast& forecast) { forecast_->setText(in_qt(facts_of(forecast))); }

void ScheduleEditor::set_not_predicted(const Failure& failure) {
  forecast_->setText(tr("not predicted: %1").arg(in_qt(failure.problem)));
}

void ScheduleEditor::set_not_checked() {
  QPalette palette = summary_->palette();
  palette.setColor(QPalette::WindowText, theme_->text);
  summary_->setPalette(palette);
  summary_->setText(tr("not checked: cancelled"));
}

void ScheduleEditor::forget_findings() {
  forecast_->clear();
  set_verdict(nullptr);
}

QString ScheduleEditor::forecast_text() const { return forecast_->text(); }
QString ScheduleEditor::verdict_text() const { return summary_->text(); }

void ScheduleEditor::set_theme(const Theme& theme) {
  theme_ = &theme;
  static_cast<DraftDelegate*>(table_->itemDelegate())->set_theme(theme);
  show_verdict();
}

void ScheduleEditor::mark_saved() { saved_ = schedule(); }

void ScheduleEditor::update_actions() {
  undo_->setEnabled(model_.draft().can_undo());
  redo_->setEnabled(model_.draft().can_redo());
  repair_->setEnabled(model_.verdict() && model_.verdict()->repaired);
}

void ScheduleEditor::select(int row) {
  table_->setCurrentIndex(model_.index(row, DraftModel::kStep));
  table_->scrollTo(table_->currentIndex());
}

int ScheduleEditor::current_row() const { return table_->currentIndex().row(); }

}  // namespace interlace::gui
