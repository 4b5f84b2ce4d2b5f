// What of the two timelines stands at time 0.
#include <algorithm>

#include "gui/compare/aligned.hpp"
#include "gui/compare/alignment.hpp"
#include "gui/panels/compare_panel.hpp"

namespace interlace::gui {

void ComparePanel::align_step() {
  if (!recorded_) return;
  aligned_by_ = AlignBy::kStep;
  align();
}

void ComparePanel::align_batch() {
  if (!recorded_) return;
  const TimelinePane& of = pane(active_);
  const bool chosen = of.run() && of.selected();
  const auto batch = chosen ? of.run()->scene().tags().batch_of(*of.selected()) : std::nullopt;
  const auto offset = batch ? offset_of_batch(*of.run(), *batch) : std::nullopt;
  aligned_step_ = offset.value_or(last_common_offset(recorded_->run->first_steps(), predicted_steps()));
  aligned_by_ = AlignBy::kBatch;
  align();
  fit_step();
}

void ComparePanel::align_next(std::ptrdiff_t by) {
  if (!recorded_) return;
  if (aligned_by_ == AlignBy::kRange) aligned_by_ = AlignBy::kStep;
  aligned_step_ = nearest_offset(recorded_->run->first_steps(), predicted_steps(), aligned_step_ + by);
  align();
}

std::span<const Interval> ComparePanel::predicted_steps() const {
  const RunPtr& predicted = pane(Side::kPredicted).run();
  return predicted ? std::span<const Interval>(predicted->first_steps()) : std::span<const Interval>();
}

std::optional<Nanoseconds> ComparePanel::start_of_choice(Side side) const {
  const TimelinePane& of = pane(side);
  if (!of.run()) return std::nullopt;
  if (of.range()) return of.range()->span.begin;
  if (of.selected()) return of.run()->trace().start(*of.selected());
  return std::nullopt;
}

void ComparePanel::align_selections() {
  if (!recorded_) return;
  std::array<std::optional<Nanoseconds>, kSides> starts;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    starts[static_cast<std::size_t>(side)] = start_of_choice(side);
  }
  aligned_work_.reset();
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    const TimelinePane& of = pane(side);
    auto& there = starts[static_cast<std::size_t>(other(side))];
    if (there || of.range() || !of.run() || !of.selected()) continue;
    const auto same = counterpart_of(side, *of.selected());
    if (!same) continue;
    there = pane(other(side)).run()->trace().start(*same);
    aligned_work_ = side == Side::kMeasured ? of.selected() : same;
    break;
  }
  if (!starts[0] && !starts[1]) return;
  aligned_by_ = AlignBy::kRange;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    if (const auto start = starts[static_cast<std::size_t>(side)]) views_.set_anchor(side, *start);
  }
  align();
}

void ComparePanel::align() {
  set_anchors();
  compare();
  if (colour_by_ == ColourBy::kBatch) recolour();  // counted from the aligned one
  const Interval shown = views_.view(active_).visible();
  if (!shown.contains(0)) {
    look(active_, centred(views_.view(active_), {0, 0}));
  } else {
    show_views();
  }
  Q_EMIT alignment_changed();
  Q_EMIT selection_changed();
}

void ComparePanel::set_anchors() {
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    const RunPtr& run = pane(side).run();
    if (!run) continue;
    switch (aligned_by_) {
      case AlignBy::kStep: views_.set_anchor(side, anchor_at_step(run->first_steps(), aligned_step_)); break;
      case AlignBy::kBatch: {
        const auto batch = aligned_batch(*run, aligned_step_);
        views_.set_anchor(side, batch ? batch->span.begin : anchor_at_step(run->first_steps(), aligned_step_));
        break;
      }
      case AlignBy::kRange: {
        if (!aligned_work_) break;
        const auto work = side == Side::kMeasured ? aligned_work_ : counterpart_of(Side::kMeasured, *aligned_work_);
        if (work) views_.set_anchor(side, run->trace().start(*work));
        break;
      }
    }
  }
}

Interval ComparePanel::aligned_view() const {
  std::vector<Interval> parts;
  for (const Side side : {Side::kMeasured, Side::kPredicted}) {
    const RunPtr& run = pane(side).run();
    if (!run) continue;
    const auto part =
        aligned_by_ == AlignBy::kBatch ? aligned_batch(*run, aligned_step_) : gui::aligned_step(*run, aligned_step_);
    if (part) parts.push_back(part->span);
  }
  return first_view(parts, recorded_->run->trace().length());
}

}  // namespace interlace::gui
