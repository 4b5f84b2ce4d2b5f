// Where the panes look, and what is selected and found in them.
#include <QSplitter>
#include <algorithm>
#include <charconv>
#include <limits>

#include "gui/compare/alignment.hpp"
#include "gui/panels/compare_panel.hpp"
#include "gui/panels/difference_strip.hpp"
#include "gui/panels/legend_strip.hpp"
#include "gui/panels/memory_strip.hpp"
#include "gui/timeline/explanations.hpp"
#include "gui/timeline/ticks.hpp"

namespace interlace::gui {

namespace {

constexpr double kFitMargin = 0.15;

/// Behind the highest number that a mark is called by: also after others are gone none is given twice.
int next_number(const std::vector<Mark>& marks) {
  int highest = 0;
  for (const Mark& mark : marks) {
    int number = 0;
    const char* end = mark.text.data() + mark.text.size();
    const auto [rest, failure] = std::from_chars(mark.text.data(), end, number);
    if (failure == std::errc() && rest == end && number < std::numeric_limits<int>::max()) {
      highest = std::max(highest, number);
    }
  }
  return highest + 1;
}

}  // namespace

Interval ComparePanel::limits(Side side) const {
  Interval all{0, 0};
  for (const Side of : {Side::kMeasured, Side::kPredicted}) {
    if (!pane(of).run() || (of != side && !views_.linked())) continue;
    all = hull(all, views_.on_axis(of, pane(of).run()->extent()));
  }
  return all;
}

void ComparePanel::look(Side side, const Viewport& view) {
  remember();
  views_.look(side, clamped(view, limits(side)));
  show_views();
}

void ComparePanel::compare() {
  const RunPtr& predicted = pane(Side::kPredicted).run();
  const std::array anchors = {views_.anchor(Side::kMeasured), views_.anchor(Side::kPredicted)};
  comparison_ = recorded_ && predicted ? Comparison(*recorded_->run, *predicted, aligned_step_, aligned_by_, anchors)
                                       : Comparison();
  difference_->setVisible(comparison_.known());
  difference_->set_leads(comparison_.leads());
  show_counterparts();
}

std::optional<trace::OperationId> ComparePanel::counterpart_of(Side side, trace::OperationId op) const {
  return side == Side::kMeasured ? comparison_.matching().predicted_of(op) : comparison_.matching().measured_of(op);
}

void ComparePanel::show_counterparts() {
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    const auto selected = pane(other(side)).selected();
    pane(side).set_counterpart(selected ? counterpart_of(other(side), *selected) : std::nullopt);
  }
}

void ComparePanel::set_critical_shown(bool shown) {
  critical_shown_ = shown;
  for (TimelinePane* pane : panes_) pane->set_critical_shown(shown);
  Q_EMIT overlays_changed();
  show_explanations();
}

void ComparePanel::set_idle_shown(bool shown) {
  idle_shown_ = shown;
  for (TimelinePane* pane : panes_) pane->set_idle_shown(shown);
  Q_EMIT overlays_changed();
  update_legend();
  show_explanations();
}

void ComparePanel::show_explanations() {
  for (TimelinePane* pane : panes_) {
    pane->update();
    if ((critical_shown_ || idle_shown_) && pane->run() && !pane->run()->explained()) {
      Q_EMIT explanation_wanted(pane->run());
    }
  }
  Q_EMIT selection_changed();
}

void ComparePanel::set_memory_shown(bool shown) {
  memory_shown_ = shown;
  show_memory();
  Q_EMIT overlays_changed();
}

void ComparePanel::show_memory() {
  Bytes top = 0;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    memory(side).set_run(pane(side).run());
    memory(side).setVisible(memory_shown_ && memory(side).has_memory());
    top = std::max(top, memory(side).most());
  }
  for (MemoryStrip* memory : memories_) memory->set_top(top);
  fit_strips();
}

void ComparePanel::fit_strips() {
  const bool above_each_other = !forecasts_.empty() && !beside();
  const double room = (height() - legend_->minimumHeight()) / (above_each_other ? 2.0 : 1.0);
  for (MemoryStrip* memory : memories_) memory->set_height(memory_height(room));
  difference_->set_height(difference_height(room));
}

void ComparePanel::show_cursor(Side side, std::optional<double> x) {
  const Viewport view = views_.view(side).shifted(static_cast<double>(views_.anchor(side)));
  cursor_time_ = x ? std::optional(view.time_at(*x)) : std::nullopt;
  memory(side).set_cursor(x);
  memory(other(side)).set_cursor(views_.linked() ? x : std::nullopt);
  if (idle_shown_ && pane(side).run() && !pane(side).content().hovered) {
    const analysis::IdlePiece* idle = pane(side).idle_under_mouse();
    Q_EMIT hovered(idle == nullptr ? QString()
                                   : tr("device idle for %1: %2")
                                         .arg(QString::fromStdString(duration_text(idle->span.length())),
                                              QString::fromStdString(idle_text(*idle))));
  }
  Q_EMIT cursor_changed(side);
}

void ComparePanel::show_views() {
  difference_->set_view(views_.view(Side::kPredicted));  // it stands above that pane
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    pane(side).set_view(views_.view(side), views_.anchor(side));
    memory(side).set_view(views_.view(side), views_.anchor(side));
  }
}

void ComparePanel::apply_width() {
  if (pane(Side::kMeasured).plot_width() < 2) return;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) views_.set_width(side, pane(side).plot_width());
  if (first_view_pending_) look_at_first();
  show_views();
}

void ComparePanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_strips();
  if (!panes_sized_) share_evenly();
  apply_width();
}

void ComparePanel::look_at_first() {
  const double width = pane(Side::kMeasured).plot_width();
  // Until the window has its size there is no width to fit into.
  first_view_pending_ = width < 2 || !isVisible();
  if (!recorded_) return;
  views_.look(Side::kMeasured, fitted(aligned_view(), std::max(width, 2.0), 0));
  show_views();
}

void ComparePanel::remember() { history_.moved(views_, clock_.elapsed()); }

void ComparePanel::restore(const Views& views) {
  const bool was_linked = views_.linked();
  const std::array anchors = {views_.anchor(Side::kMeasured), views_.anchor(Side::kPredicted)};
  views_ = views;
  // What is laid beside each other is no matter of where one looks.
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    views_.set_anchor(side, anchors[static_cast<std::size_t>(side)]);
  }
  apply_width();
  if (views_.linked() != was_linked) Q_EMIT linked_changed(views_.linked());
}

void ComparePanel::go_back() {
  if (history_.can_go_back()) restore(history_.back(views_));
}

void ComparePanel::go_forward() {
  if (history_.can_go_forward()) restore(history_.forward(views_));
}

void ComparePanel::zoom(double factor) {
  const Viewport& view = views_.view(active_);
  look(active_, zoomed(view, factor, active_pane().cursor_x().value_or(view.width / 2)));
}

void ComparePanel::pan(double part_of_width) {
  const Viewport& view = views_.view(active_);
  look(active_, panned(view, part_of_width * view.width));
}

void ComparePanel::scroll(double pixels) { active_pane().scroll_by(pixels); }

void ComparePanel::fit_all() {
  if (recorded_) look(active_, fitted(limits(active_), views_.view(active_).width));
}

void ComparePanel::fit_step() {
  if (recorded_) look(active_, fitted(aligned_view(), views_.view(active_).width, 0));
}

void ComparePanel::fit(Side side, Interval in_trace) {
  look(side, fitted(views_.on_axis(side, in_trace), views_.view(side).width, kFitMargin));
}

void ComparePanel::fit_selection() {
  const TimelinePane& of = active_pane();
  if (!of.run()) return;
  if (of.range() && of.range()->span.length() > 0) {
    fit(active_, of.range()->span);
  } else if (of.selected()) {
    fit(active_, {of.run()->trace().start(*of.selected()), of.run()->trace().end(*of.selected())});
  } else {
    fit_step();
  }
}

void ComparePanel::set_linked(bool linked) {
  if (linked == views_.linked()) return;
  remember();
  views_.link(linked, active_);
  show_views();
  Q_EMIT linked_changed(linked);
}

Nanoseconds ComparePanel::mark_place() const {
  const TimelinePane& of = active_pane();
  if (of.selected()) return of.run()->trace().start(*of.selected());
  const Viewport view = of.content().trace_view();
  return view.time_at(of.cursor_x().value_or(view.width / 2));
}

std::vector<Mark>::iterator ComparePanel::mark_near(Nanoseconds at) {
  constexpr double kNearPixels = 4;
  const Viewport view = active_pane().content().trace_view();
  return std::ranges::find_if(marks_[static_cast<std::size_t>(active_)], [&](const Mark& mark) {
    return std::abs(view.x_of(mark.at) - view.x_of(at)) < kNearPixels;
  });
}

void ComparePanel::toggle_mark() {
  if (!active_pane().run()) return;
  const Nanoseconds at = mark_place();
  auto& marks = marks_[static_cast<std::size_t>(active_)];
  const auto near = mark_near(at);
  if (near != marks.end()) {
    marks.erase(near);
  } else {
    marks.push_back({at, std::to_string(next_number(marks))});
  }
  show_marks(active_);
}

void ComparePanel::set_note(Nanoseconds at, const std::string& text) {
  if (!active_pane().run()) return;
  auto& marks = marks_[static_cast<std::size_t>(active_)];
  auto near = mark_near(at);
  if (near == marks.end()) near = marks.insert(marks.end(), {at, {}});
  near->text = text;
  show_marks(active_);
}

void ComparePanel::show_marks(Side side) {
  const std::vector<Mark>& marks = marks_[static_cast<std::size_t>(side)];
  if (side == Side::kPredicted)
    marks_of_[forecasts_[static_cast<std::size_t>(shown_forecast())]->schedule.name] = marks;
  pane(side).set_marks(marks);
  Q_EMIT marks_changed(side);
}

void ComparePanel::set_marks(std::vector<Mark> marks) {
  marks_[0] = std::move(marks);
  pane(Side::kMeasured).set_marks(marks_[0]);
}

void ComparePanel::clear_selection() {
  for (TimelinePane* pane : panes_) {
    pane->set_selected(std::nullopt);
    pane->set_range(std::nullopt);
  }
  show_counterparts();
  Q_EMIT selection_changed();
  Q_EMIT range_changed();
}

void ComparePanel::select(Side side, std::optional<trace::OperationId> op, bool bring_into_view) {
  TimelinePane& of = pane(side);
  active_ = side;
  of.set_selected(op);
  show_counterparts();
  if (op && bring_into_view) {
    of.reveal(*op);
    const trace::Trace& trace = of.run()->trace();
    const Interval span = views_.on_axis(side, {trace.start(*op), trace.end(*op)});
    const Viewport& view = views_.view(side);
    const Interval shown = view.visible();
    if (span.end < shown.begin || span.begin > shown.end) look(side, centred(view, span));
  }
  Q_EMIT selection_changed();
}

void ComparePanel::select_neighbour(bool next) {
  const TimelinePane& of = active_pane();
  if (!of.run() || !of.selected()) return;
  const Scene& scene = of.run()->scene();
  const auto row = row_of(scene.lanes(), of.run()->trace(), *of.selected());
  if (!row) return;
  const auto& operations = scene.row(*row).operations;
  const auto at = std::ranges::lower_bound(operations, *of.selected());
  if (next && at + 1 != operations.end()) select(active_, *(at + 1), true);
  if (!next && at != operations.begin()) select(active_, *(at - 1), true);
}

void ComparePanel::set_detail(LaneDetail detail) {
  for (TimelinePane* pane : panes_) pane->set_detail_of_all(detail);
}

void ComparePanel::search(const QString& pattern) {
  // First, so that a wrong pattern leaves what was found before, and is none that a recording opened later meets.
  check_pattern(pattern.toStdString());
  pattern_ = pattern;
  update_hits();
}

void ComparePanel::update_hits() {
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    auto& hits = hits_[static_cast<std::size_t>(side)];
    const RunPtr& run = pane(side).run();
    hits = run && !pattern_.isEmpty() ? std::make_shared<SearchHits>(run->trace(), pattern_.toStdString()) : nullptr;
    pane(side).set_hits(hits);
  }
}

bool ComparePanel::show_hit(bool next) {
  const auto& hits = hits_[static_cast<std::size_t>(active_)];
  if (!hits) return false;
  const auto from = active_pane().selected();
  const auto found = next ? hits->next(from) : hits->previous(from);
  if (!found) return false;
  select(active_, found, true);
  return true;
}

QString ComparePanel::hit_text() const {
  const auto& hits = hits_[static_cast<std::size_t>(active_)];
  if (!hits) return {};
  const auto selected = active_pane().selected();
  const std::size_t number = selected ? hits->number_of(*selected) : 0;
  const auto count = static_cast<qulonglong>(hits->operations().size());
  return number == 0 ? tr("%1 found").arg(count) : tr("%1 of %2").arg(static_cast<qulonglong>(number)).arg(count);
}

}  // namespace interlace::gui
