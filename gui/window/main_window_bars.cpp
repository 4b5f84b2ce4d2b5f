// The bars above and below the timelines.
#include <QAbstractItemView>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPixmap>
#include <QProgressBar>
#include <QShortcut>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>

#include "gui/panels/table_panel.hpp"
#include "gui/window/main_window.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::gui {

void MainWindow::make_tool_bar() {
  constexpr int kSchedule = 15;  // letters: the bar fits into 1280 pixels
  constexpr int kList = 330;     // pixels: names of schedules are longer than that
  QToolBar* bar = addToolBar(tr("Tools"));
  bar->setMovable(false);
  bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
  bar->addAction(tr("Open..."), this, &MainWindow::ask_for_recordings);
  add_search_to(*bar);  // early, so that narrow windows do not put it away
  schedule_box_ = new QComboBox;
  schedule_box_->setMinimumContentsLength(kSchedule);
  schedule_box_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  schedule_box_->view()->setMinimumWidth(kList);
  schedule_box_->setFocusPolicy(Qt::ClickFocus);
  schedule_box_->setObjectName(QStringLiteral("schedules"));
  schedule_box_->addItem(tr("predict..."));
  for (const schedule::LibraryEntry& entry : schedule::library()) {
    schedule_box_->addItem(QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size())));
  }
  schedule_box_->addItem(tr("from file..."));
  bar->addWidget(schedule_box_);
  connect(schedule_box_, &QComboBox::activated, this, [this](int index) {
    schedule_box_->setCurrentIndex(0);
    if (index == schedule_box_->count() - 1) {
      ask_for_schedule();
    } else if (index > 0) {
      predict(schedule_box_->itemText(index).toStdString());
    }
    panel_->setFocus();
  });
  predict_actions_.push_back(bar->addAction(tr("All"), this, &MainWindow::predict_all));
  predict_actions_.back()->setObjectName(QStringLiteral("predict_all"));
  predict_actions_.back()->setToolTip(tr("Predict all built-in schedules that apply"));
  bar->addAction(tr("Edit"), this, &MainWindow::edit_shown)
      ->setToolTip(tr("Edit the schedule that is shown: reorder, change streams and waits"));
  bar->addSeparator();
  bar->addWidget(new QLabel(tr(" colour by ")));
  colour_box_ = new QComboBox;
  colour_box_->setFocusPolicy(Qt::ClickFocus);
  for (const ColourBy by : {ColourBy::kStage, ColourBy::kBatch, ColourBy::kKind, ColourBy::kStream}) {
    const std::string_view name = to_string(by);
    colour_box_->addItem(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
  }
  connect(colour_box_, &QComboBox::activated, this, [this](int index) {
    panel_->set_colour_by(static_cast<ColourBy>(index));
    panel_->setFocus();
  });
  bar->addWidget(colour_box_);
  add_views_to(*bar);
}

void MainWindow::add_search_to(QToolBar& bar) {
  constexpr int kFieldWidth = 200;
  constexpr int kTextWidth = 110;
  search_field_ = new QLineEdit;
  search_field_->setObjectName(QStringLiteral("search"));
  search_field_->setPlaceholderText(tr("search (/)"));
  search_field_->setClearButtonEnabled(true);
  search_field_->setFixedWidth(kFieldWidth);
  hit_label_ = new QLabel;
  hit_label_->setObjectName(QStringLiteral("hits"));
  hit_label_->setFixedWidth(kTextWidth);
  hit_label_->setContentsMargins(4, 0, 4, 0);
  bar.addWidget(search_field_);
  bar.addWidget(hit_label_);
  bar.addSeparator();
  auto* leave = new QShortcut(QKeySequence(Qt::Key_Escape), search_field_);
  leave->setContext(Qt::WidgetShortcut);
  connect(leave, &QShortcut::activated, this, [this] { panel_->setFocus(); });
  connect(search_field_, &QLineEdit::returnPressed, this, [this] {
    search(search_field_->text());
    panel_->setFocus();
  });
  connect(search_field_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (text.isEmpty()) search(text);
  });
}

void MainWindow::add_views_to(QToolBar& bar) {
  bar.addWidget(new QLabel(tr(" align by ")));
  align_box_ = new QComboBox;
  align_box_->setFocusPolicy(Qt::ClickFocus);
  align_box_->setToolTip(
      tr("What stands at time 0 of both timelines: the begin of a step, the first work for a batch "
         "(of the selection), or what is measured or selected"));
  for (const AlignBy by : {AlignBy::kStep, AlignBy::kBatch, AlignBy::kRange}) {
    const std::string_view name = to_string(by);
    align_box_->addItem(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
  }
  connect(align_box_, &QComboBox::activated, this, [this](int index) {
    switch (static_cast<AlignBy>(index)) {
      case AlignBy::kStep: panel_->align_step(); break;
      case AlignBy::kBatch: panel_->align_batch(); break;
      case AlignBy::kRange: panel_->align_selections(); break;
    }
    show_alignment();  // a range can only be aligned where one is chosen
    panel_->setFocus();
  });
  connect(panel_, &ComparePanel::alignment_changed, this, &MainWindow::show_alignment);
  bar.addWidget(align_box_);
  link_button_ = new QToolButton;
  link_button_->setText(tr("Linked"));
  link_button_->setCheckable(true);
  link_button_->setChecked(true);
  link_button_->setFocusPolicy(Qt::NoFocus);
  connect(link_button_, &QToolButton::toggled, this, [this](bool on) { panel_->set_linked(on); });
  bar.addWidget(link_button_);
  bar.addSeparator();
  const auto toggle = [&](const QString& text, const QString& tip, auto set, auto shown) {
    QAction* action = bar.addAction(text);
    action->setCheckable(true);
    action->setChecked(shown());
    action->setToolTip(tip);
    connect(action, &QAction::triggered, this, set);
    connect(panel_, &ComparePanel::overlays_changed, action, [action, shown] { action->setChecked(shown()); });
  };
  toggle(
      tr("Critical path"), tr("What each step hangs on (P)"), [this](bool on) { panel_->set_critical_shown(on); },
      [this] { return panel_->critical_shown(); });
  toggle(
      tr("Idle causes"), tr("Why devices do nothing (I)"), [this](bool on) { panel_->set_idle_shown(on); },
      [this] { return panel_->idle_shown(); });
  toggle(
      tr("Memory"), tr("Memory curves, where memory was recorded (Y)"),
      [this](bool on) { panel_->set_memory_shown(on); }, [this] { return panel_->memory_shown(); });
}

void MainWindow::show_alignment() { align_box_->setCurrentIndex(static_cast<int>(panel_->aligned_by())); }

void MainWindow::make_status_bar() {
  hover_label_ = new QLabel;
  hover_label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // no text makes the window wider
  phase_label_ = new QLabel;
  busy_bar_ = new QProgressBar;
  busy_bar_->setRange(0, 0);
  busy_bar_->setMaximumWidth(140);
  busy_bar_->setTextVisible(false);
  cancel_button_ = new QToolButton;
  cancel_button_->setObjectName(QStringLiteral("cancel"));
  cancel_button_->setText(tr("Cancel"));
  connect(cancel_button_, &QToolButton::clicked, this, [this] {
    session_.cancel();
    schedules_to_predict_.clear();
  });
  quality_button_ = new QToolButton;
  quality_button_->setObjectName(QStringLiteral("flaws"));
  quality_button_->setAutoRaise(true);
  connect(quality_button_, &QToolButton::clicked, this, [this] { lower_tabs_->setCurrentWidget(quality_table_); });
  statusBar()->addWidget(hover_label_, 1);
  statusBar()->addPermanentWidget(quality_button_);
  statusBar()->addPermanentWidget(phase_label_);
  statusBar()->addPermanentWidget(busy_bar_);
  statusBar()->addPermanentWidget(cancel_button_);
  show_busy(false);
}

void MainWindow::colour_overflow_buttons() {
  constexpr int kSide = 12;
  QPixmap arrows(QSize(kSide, kSide) * devicePixelRatio());
  arrows.setDevicePixelRatio(devicePixelRatio());
  arrows.fill(Qt::transparent);
  QPainter painter(&arrows);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme(theme_kind_).text, 1.5));
  for (const double left : {2.0, 6.0}) {
    painter.drawPolyline(QPolygonF{{left, 2.5}, {left + 3.5, 6}, {left, 9.5}});
  }
  painter.end();
  for (auto* button : findChildren<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"))) button->setIcon(arrows);
}

void MainWindow::show_flaws() {
  const QString grave = diagnostics_.grave();
  const int tab = lower_tabs_->indexOf(quality_table_);
  lower_tabs_->setTabText(tab, grave.isEmpty() ? tr("Data quality") : tr("Data quality: %1").arg(grave));
  const bool lost = diagnostics_.kinds_of(Severity::kDataLoss) > 0;
  const QColor colour = lost ? theme(theme_kind_).bad : theme(theme_kind_).text;
  lower_tabs_->tabBar()->setTabTextColor(tab, colour);
  QPalette palette = quality_button_->palette();
  palette.setColor(QPalette::ButtonText, colour);
  quality_button_->setPalette(palette);
  quality_button_->setText(grave);
  quality_button_->setToolTip(tr("What the recording lacks, and what to do about it: the table Data quality"));
  quality_button_->setVisible(!grave.isEmpty());
}

}  // namespace interlace::gui
