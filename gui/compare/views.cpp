#include "gui/compare/views.hpp"

namespace interlace::gui {

Interval Views::on_axis(Side side, Interval in_trace) const {
  return {in_trace.begin - anchor(side), in_trace.end - anchor(side)};
}

void Views::look(Side side, const Viewport& view) {
  views_[index(side)] = view;
  if (linked_) follow(other(side), view);
}

void Views::link(bool linked, Side leader) {
  linked_ = linked;
  if (linked) follow(other(leader), view(leader));
}

void Views::set_width(Side side, double pixels) { views_[index(side)] = resized(view(side), pixels); }

void Views::follow(Side side, const Viewport& leader) { views_[index(side)] = resized(leader, view(side).width); }

void ViewHistory::moved(const Views& before, std::int64_t at_ms) {
  const bool same_move = at_ms - last_ms_ < kOneMoveMs && !back_.empty();
  last_ms_ = at_ms;
  forward_.clear();
  if (same_move) return;
  if (back_.size() == kMost) back_.erase(back_.begin());
  back_.push_back(before);
}

Views ViewHistory::back(const Views& present) {
  const Views earlier = back_.back();
  back_.pop_back();
  forward_.push_back(present);
  last_ms_ -= kOneMoveMs;  // the next move is one of its own
  return earlier;
}

Views ViewHistory::forward(const Views& present) {
  const Views later = forward_.back();
  forward_.pop_back();
  back_.push_back(present);
  last_ms_ -= kOneMoveMs;
  return later;
}

void ViewHistory::clear() {
  back_.clear();
  forward_.clear();
}

}  // namespace interlace::gui
