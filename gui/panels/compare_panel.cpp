#include "gui/panels/compare_panel.hpp"

#include <QSplitter>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "gui/compare/alignment.hpp"
#include "gui/compare/facts.hpp"
#include "gui/models/operation_facts.hpp"
#include "gui/panels/difference_strip.hpp"
#include "gui/panels/legend_strip.hpp"
#include "gui/panels/memory_strip.hpp"
#include "gui/timeline/explanations.hpp"
#include "gui/timeline/names.hpp"
#include "simulator/report/predict_report.hpp"

namespace interlace::gui {

namespace {

/// One's own stands beside the built-in one that it came from.
QString title_of(const std::string& schedule) {
  return QString::fromStdString(schedule.starts_with("mine/") ? schedule : file_name(schedule));
}

}  // namespace

ComparePanel::ComparePanel(QWidget* parent)
    : QWidget(parent),
      theme_(&theme(ThemeKind::kLight)),
      legend_(new LegendStrip),
      splitter_(new QSplitter(Qt::Vertical)),
      upper_(new QWidget),
      lower_(new QWidget),
      tabs_(new QTabBar),
      difference_(new DifferenceStrip) {
  setFocusPolicy(Qt::StrongFocus);
  clock_.start();
  for (TimelinePane*& pane : panes_) pane = new TimelinePane;
  for (MemoryStrip*& memory : memories_) {
    memory = new MemoryStrip;
    memory->hide();  // until there is some
  }
  auto* above = new QVBoxLayout(upper_);
  above->setContentsMargins(0, 0, 0, 0);
  above->setSpacing(0);
  above->addWidget(panes_[0], 1);
  above->addWidget(memories_[0]);
  auto* below = new QVBoxLayout(lower_);
  below->setContentsMargins(0, 0, 0, 0);
  below->setSpacing(0);
  below->addWidget(tabs_);
  below->addWidget(difference_);
  below->addWidget(panes_[1], 1);
  below->addWidget(memories_[1]);
  tabs_->setTabsClosable(true);
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  tabs_->setUsesScrollButtons(true);
  tabs_->setFocusPolicy(Qt::NoFocus);
  splitter_->addWidget(upper_);
  splitter_->addWidget(lower_);
  splitter_->setChildrenCollapsible(false);
  lower_->hide();
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  all->addWidget(legend_);
  all->addWidget(splitter_, 1);
  connect_pane(Side::kMeasured);
  connect_pane(Side::kPredicted);
  connect(difference_, &DifferenceStrip::pointed, this, [this](const Lead* lead) {
    const bool known = lead != nullptr && recorded_;
    Q_EMIT hovered(known ? QString::fromStdString(lead_text(*recorded_->run, *lead)) : QString());
  });
  connect(difference_, &DifferenceStrip::chosen, this,
          [this](const Lead& lead) { select(Side::kMeasured, lead.measured, true); });
  connect(splitter_, &QSplitter::splitterMoved, this, [this] { panes_sized_ = true; });
  connect(tabs_, &QTabBar::currentChanged, this, &ComparePanel::show_forecast);
  connect(tabs_, &QTabBar::tabCloseRequested, this, &ComparePanel::close_forecast);
}

void ComparePanel::connect_pane(Side side) {
  TimelinePane* of = &pane(side);
  connect(of, &TimelinePane::look_wanted, this, [this, side](const Viewport& view) { look(side, view); });
  connect(of, &TimelinePane::select_wanted, this,
          [this, side](std::optional<trace::OperationId> op) { select(side, op, false); });
  connect(of, &TimelinePane::fit_wanted, this, [this, side, of](trace::OperationId op) {
    fit(side, {of->run()->trace().start(op), of->run()->trace().end(op)});
  });
  connect(of, &TimelinePane::range_wanted, this, [this, of](std::optional<MeasuredRange> range) {
    of->set_range(std::move(range));
    Q_EMIT range_changed();
  });
  connect(of, &TimelinePane::hovered, this, [this, of](std::optional<trace::OperationId> op) {
    Q_EMIT hovered(op ? QString::fromStdString(headline_of_operation(*of->run(), *op)) : QString());
  });
  connect(of, &TimelinePane::became_active, this, [this, side] {
    active_ = side;
    setFocus();
  });
  connect(of, &TimelinePane::resized, this, &ComparePanel::apply_width);
  connect(of, &TimelinePane::cursor_moved, this, [this, side](std::optional<double> x) { show_cursor(side, x); });
  connect(&memory(side), &MemoryStrip::cursor_moved, this,
          [this, side](std::optional<double> x) { show_cursor(side, x); });
  connect(&memory(side), &MemoryStrip::curve_wanted, this, [this, side](std::size_t curve) {
    for (MemoryStrip* memory : memories_) memory->set_curve(curve);
    Q_EMIT cursor_changed(side);
  });
}

void ComparePanel::set_hint(const QString& hint) { pane(Side::kMeasured).set_hint(hint); }

void ComparePanel::set_recorded(RecordedPtr recorded) {
  recorded_ = std::move(recorded);
  forecasts_.clear();
  const QSignalBlocker quiet(tabs_);
  while (tabs_->count() > 0) tabs_->removeTab(0);
  lower_->hide();
  pane(Side::kPredicted).set_run(nullptr, nullptr);
  for (auto& marks : marks_) marks.clear();
  marks_of_.clear();
  outdated_.clear();
  history_.clear();
  const RunPtr& run = recorded_->run;
  aligned_step_ = 0;
  aligned_by_ = AlignBy::kStep;
  views_ = Views();
  colourings_ = {colouring_of(*run), nullptr};
  pane(Side::kMeasured).set_run(run, colourings_[0]);
  pane(Side::kMeasured)
      .set_title(tr("Measured"), QString::fromStdString(facts_of(*recorded_)),
                 QString::fromStdString(losses_of(*recorded_)));
  active_ = Side::kMeasured;
  set_anchors();
  compare();
  update_hits();
  update_legend();
  show_memory();
  look_at_first();
  Q_EMIT linked_changed(true);
  Q_EMIT alignment_changed();
  show_explanations();
  Q_EMIT range_changed();
}

void ComparePanel::add_forecast(ForecastPtr forecast) {
  const std::string name = forecast->schedule.name;
  outdated_.erase(name);
  const auto same = std::ranges::find(forecasts_, name, [](const ForecastPtr& f) { return f->schedule.name; });
  const auto tab = static_cast<int>(same - forecasts_.begin());
  const bool is_new = same == forecasts_.end();
  const bool is_first = forecasts_.empty();
  if (is_new) {
    forecasts_.push_back(std::move(forecast));
    const QSignalBlocker quiet(tabs_);
    tabs_->addTab(title_of(name));
  } else {
    marks_of_.erase(name);  // times of what has been replaced
    *same = std::move(forecast);
  }
  name_tab(tab);
  if (is_first) {
    tabs_->updateGeometry();  // a bar that is hidden does not say that it has grown
    lower_->show();
    fit_strips();
    share_evenly();
  }
  show_forecast(tab);
}

void ComparePanel::show_forecast(int tab) {
  if (tab < 0 || tab >= static_cast<int>(forecasts_.size())) return;
  const Forecast& forecast = *forecasts_[static_cast<std::size_t>(tab)];
  {
    const QSignalBlocker quiet(tabs_);
    tabs_->setCurrentIndex(tab);
  }
  colourings_[1] = colouring_of(*forecast.run);
  const bool was_active = active_ == Side::kPredicted;
  pane(Side::kPredicted).set_run(forecast.run, colourings_[1]);
  marks_[1] = marks_of_[forecast.schedule.name];
  pane(Side::kPredicted).set_marks(marks_[1]);
  if (was_active) Q_EMIT range_changed();  // what was measured is gone with the other one
  name_forecast(forecast);
  // Ranges are chosen in two traces, of which one is gone; a piece of work is in the new one, too.
  if (aligned_by_ == AlignBy::kRange && !aligned_work_) aligned_by_ = AlignBy::kStep;
  compare();
  set_anchors();
  compare();
  update_hits();
  update_legend();
  show_memory();
  apply_width();
  show_views();
  Q_EMIT forecast_shown(tab);
  Q_EMIT alignment_changed();
  show_explanations();
}

void ComparePanel::close_forecast(int tab) {
  if (tab < 0 || tab >= static_cast<int>(forecasts_.size())) return;
  const std::string closed = forecasts_[static_cast<std::size_t>(tab)]->schedule.name;
  forecasts_.erase(forecasts_.begin() + tab);
  marks_of_.erase(closed);
  outdated_.erase(closed);
  Q_EMIT forecast_closed(closed);
  {
    const QSignalBlocker quiet(tabs_);
    tabs_->removeTab(tab);
  }
  if (!forecasts_.empty()) {
    show_forecast(tabs_->currentIndex());
    return;
  }
  lower_->hide();
  pane(Side::kPredicted).set_run(nullptr, nullptr);
  colourings_[1] = nullptr;
  compare();
  show_memory();
  const bool was_active = std::exchange(active_, Side::kMeasured) == Side::kPredicted;
  update_legend();
  Q_EMIT selection_changed();
  if (was_active) Q_EMIT range_changed();
}

void ComparePanel::set_outdated(const std::string& schedule) {
  const auto found = std::ranges::find(forecasts_, schedule, [](const ForecastPtr& f) { return f->schedule.name; });
  if (found == forecasts_.end()) return;
  outdated_.insert(schedule);
  const auto tab = static_cast<int>(found - forecasts_.begin());
  name_tab(tab);
  if (tab == shown_forecast()) name_forecast(**found);
}

void ComparePanel::name_tab(int tab) {
  const Forecast& forecast = *forecasts_[static_cast<std::size_t>(tab)];
  const std::string& name = forecast.schedule.name;
  const QString alarm = QString::fromStdString(hazards_of(forecast));
  QStringList tip{QString::fromStdString(name)};
  if (!alarm.isEmpty()) tip << tr("%1, whatever its time:").arg(alarm);
  for (const std::string& line : report::hazard_lines(forecast.row)) tip << QString::fromStdString(line);
  tabs_->setTabText(tab, (alarm.isEmpty() ? QString() : QStringLiteral("✗ ")) + as_of_draft(name, title_of(name)));
  tabs_->setTabToolTip(tab, tip.join(u'\n'));
  tabs_->setTabTextColor(tab, alarm.isEmpty() ? QColor() : theme_->bad);
}

QString ComparePanel::as_of_draft(const std::string& schedule, const QString& title) const {
  return outdated_.contains(schedule) ? tr("%1 (before the last edit)").arg(title) : title;
}

void ComparePanel::name_forecast(const Forecast& forecast) {
  const std::string& name = forecast.schedule.name;
  pane(Side::kPredicted)
      .set_title(tr("Predicted  %1").arg(as_of_draft(name, QString::fromStdString(name))),
                 QString::fromStdString(facts_of(forecast)), QString::fromStdString(hazards_of(forecast)));
}

void ComparePanel::share_evenly() {
  panes_sized_ = false;
  const int half = (beside() ? splitter_->width() : splitter_->height()) / 2;
  // What stands above the lower timeline is of both.
  const int of_both = beside() ? 0 : (tabs_->sizeHint().height() + difference_->sizeHint().height()) / 2;
  splitter_->setSizes({half - of_both, half + of_both});
}

bool ComparePanel::beside() const { return splitter_->orientation() == Qt::Horizontal; }

void ComparePanel::set_beside(bool beside) {
  if (beside == this->beside()) return;
  splitter_->setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
  fit_strips();
  share_evenly();
}

int ComparePanel::shown_forecast() const { return forecasts_.empty() ? -1 : tabs_->currentIndex(); }

void ComparePanel::set_theme(const Theme& theme) {
  theme_ = &theme;
  legend_->set_theme(theme);
  difference_->set_theme(theme);
  for (TimelinePane* pane : panes_) pane->set_theme(theme);
  for (MemoryStrip* memory : memories_) memory->set_theme(theme);
  for (int tab = 0; tab < tabs_->count(); ++tab) name_tab(tab);
  update_legend();
}

void ComparePanel::set_colour_by(ColourBy by) {
  colour_by_ = by;
  recolour();
}

std::shared_ptr<const Colouring> ComparePanel::colouring_of(const Run& run) const {
  return std::make_shared<Colouring>(colour_run(run, colour_by_, aligned_step_));
}

void ComparePanel::recolour() {
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    if (!pane(side).run()) continue;
    auto& colouring = colourings_[static_cast<std::size_t>(side)];
    colouring = colouring_of(*pane(side).run());
    pane(side).set_colouring(colouring);
  }
  update_legend();
}

void ComparePanel::update_legend() {
  std::vector<const Colouring*> shown;
  for (const auto& colouring : colourings_) {
    if (colouring) shown.push_back(colouring.get());
  }
  std::vector<ColourEntry> entries;
  if (idle_shown_) entries = idle_legend(*theme_);  // first, since the line is cut at its end
  std::ranges::copy(legend_of(shown), std::back_inserter(entries));
  legend_->set_entries(std::move(entries));
}

Picture ComparePanel::picture() const {
  Picture picture;
  // Always above each other: what is shown beside each other is as wide as its half.
  picture.width = upper_->width();
  picture.theme = theme_->kind;
  picture.legend = legend_->entries();
  for (const TimelinePane* shown : panes_) {
    if (!shown->run()) continue;
    PicturePane& pane = picture.panes.emplace_back();
    pane.content = shown->content();
    // A file cannot be scrolled: all rows.
    pane.content.scroll = 0;
    pane.height = std::max<double>(shown->height(), kAbovePlot + pane.content.placement->height);
    pane.content.view = resized(shown->content().view, picture.width - kLabelWidth);
    if (shown == panes_[1] && difference_->isVisible()) {
      pane.leads = comparison_.leads();
      pane.leads_height = difference_->height();
    }
    const MemoryStrip& memory = *memories_[shown == panes_[0] ? 0 : 1];
    if (memory.isHidden()) continue;
    pane.memory = memory.plot();
    pane.memory_height = memory.height();
  }
  if (recorded_) {
    QStringList names;
    for (const auto& file : recorded_->files) names << QString::fromStdString(file.filename().string());
    picture.title = names.join(QStringLiteral("  ·  "));
  }
  return picture;
}

}  // namespace interlace::gui
