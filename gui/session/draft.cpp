#include "gui/session/draft.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "simulator/schedule/library.hpp"

namespace interlace::gui {

namespace {

using schedule::ForEachModule;
using schedule::RecordStep;
using schedule::Schedule;
using schedule::StageStep;
using schedule::Step;
using schedule::WaitStep;

const std::string kHost = "host";

DraftRow::Kind kind_of(const Step& step) {
  if (std::holds_alternative<StageStep>(step.action)) return DraftRow::Kind::kStage;
  if (std::holds_alternative<WaitStep>(step.action)) return DraftRow::Kind::kWait;
  return std::holds_alternative<RecordStep>(step.action) ? DraftRow::Kind::kRecord : DraftRow::Kind::kGroup;
}

std::vector<DraftRow> rows_of(const Schedule& schedule) {
  std::vector<DraftRow> rows;
  for (std::size_t outer = 0; outer < schedule.iteration.size(); ++outer) {
    const Step& step = schedule.iteration[outer];
    rows.push_back({kind_of(step), outer, std::nullopt});
    const auto* group = std::get_if<ForEachModule>(&step.action);
    if (group == nullptr) continue;
    for (std::size_t inner = 0; inner < group->steps.size(); ++inner) {
      rows.push_back({kind_of(group->steps[inner]), outer, inner});
    }
  }
  return rows;
}

Step& step_of(Schedule& schedule, const DraftRow& row) {
  Step& outer = schedule.iteration[row.outer];
  return row.inner ? std::get<ForEachModule>(outer.action).steps[*row.inner] : outer;
}

std::vector<Step>& list_of(Schedule& schedule, const DraftRow& row) {
  if (!row.inner) return schedule.iteration;
  return std::get<ForEachModule>(schedule.iteration[row.outer].action).steps;
}

std::ptrdiff_t index_of(const DraftRow& row) { return static_cast<std::ptrdiff_t>(row.inner.value_or(row.outer)); }

/// Whether a for_each was taken with its last step: one that holds nothing is nothing.
bool take(Schedule& schedule, const DraftRow& row) {
  std::vector<Step>& list = list_of(schedule, row);
  list.erase(list.begin() + index_of(row));
  if (!row.inner || !list.empty()) return false;
  schedule.iteration.erase(schedule.iteration.begin() + static_cast<std::ptrdiff_t>(row.outer));
  return true;
}

/// Where a row goes that is put above row `to`, as if it were still where it is.
DraftRow place_above(const Schedule& schedule, const std::vector<DraftRow>& rows, const DraftRow& source,
                     std::size_t to) {
  const DraftRow target =
      to < rows.size() ? rows[to] : DraftRow{DraftRow::Kind::kStage, schedule.iteration.size(), std::nullopt};
  if (target.inner || !source.inner || target.outer != source.outer + 1) return target;
  // Right behind its own for_each: its last place, unless it stands there already.
  const std::size_t steps = std::get<ForEachModule>(schedule.iteration[source.outer].action).steps.size();
  if (*source.inner + 1 == steps) return target;
  return {source.kind, source.outer, steps};
}

std::size_t steps_in(const Step& step) {
  const auto* group = std::get_if<ForEachModule>(&step.action);
  return group == nullptr ? 0 : group->steps.size();
}

/// Where a row goes that is put one place up, as if it were still where it is: every place of a for_each is one.
std::optional<DraftRow> place_up(const Schedule& schedule, const DraftRow& source) {
  if (source.inner) {
    const bool leaves = *source.inner == 0;
    return DraftRow{source.kind, source.outer, leaves ? std::nullopt : std::optional(*source.inner - 1)};
  }
  if (source.outer == 0) return std::nullopt;
  const std::size_t steps = steps_in(schedule.iteration[source.outer - 1]);
  const bool enters = steps > 0 && source.kind != DraftRow::Kind::kGroup;
  return DraftRow{source.kind, source.outer - 1, enters ? std::optional(steps) : std::nullopt};
}

std::optional<DraftRow> place_down(const Schedule& schedule, const DraftRow& source) {
  if (source.inner) {
    const bool leaves = *source.inner + 1 == steps_in(schedule.iteration[source.outer]);
    if (leaves) return DraftRow{source.kind, source.outer + 1, std::nullopt};
    return DraftRow{source.kind, source.outer, *source.inner + 2};
  }
  if (source.outer + 1 == schedule.iteration.size()) return std::nullopt;
  const bool enters = steps_in(schedule.iteration[source.outer + 1]) > 0 && source.kind != DraftRow::Kind::kGroup;
  if (enters) return DraftRow{source.kind, source.outer + 1, 0};
  return DraftRow{source.kind, source.outer + 2, std::nullopt};
}

void number_lines(Schedule& schedule) {
  int line = 0;
  for (const DraftRow& row : rows_of(schedule)) step_of(schedule, row).line = ++line;
}

}  // namespace

Draft::Draft(Schedule schedule) : present_(std::move(schedule)) {
  const std::string own = "mine/";
  if (!present_.name.starts_with(own)) {
    const std::size_t slash = present_.name.rfind('/');
    present_.name = own + (slash == std::string::npos ? present_.name : present_.name.substr(slash + 1));
  }
  present_.source = "edited";
  number_lines(present_);
}

std::vector<DraftRow> Draft::rows() const { return rows_of(present_); }

const Step& Draft::step(std::size_t row) const {
  const DraftRow of = rows()[row];
  const Step& outer = present_.iteration[of.outer];
  return of.inner ? std::get<ForEachModule>(outer.action).steps[*of.inner] : outer;
}

Step* Draft::find(Schedule& in, std::size_t row) const {
  const std::vector<DraftRow> all = rows_of(in);
  return row < all.size() ? &step_of(in, all[row]) : nullptr;
}

void Draft::commit(Schedule next) {
  number_lines(next);
  past_.push_back(std::exchange(present_, std::move(next)));
  future_.clear();
}

std::optional<std::size_t> Draft::move(std::size_t from, std::size_t to) {
  const std::vector<DraftRow> all = rows();
  if (from >= all.size() || to > all.size()) return std::nullopt;
  return put(all[from], place_above(present_, all, all[from], to));
}

std::optional<std::size_t> Draft::move_by_one(std::size_t from, bool up) {
  const std::vector<DraftRow> all = rows();
  if (from >= all.size()) return std::nullopt;
  const auto place = up ? place_up(present_, all[from]) : place_down(present_, all[from]);
  return place ? put(all[from], *place) : std::nullopt;
}

std::optional<std::size_t> Draft::put(const DraftRow& source, DraftRow place) {
  if (source.kind == DraftRow::Kind::kGroup && place.inner) return std::nullopt;
  Schedule next = present_;
  Step moved = step_of(next, source);
  constexpr int kMoved = -1;
  moved.line = kMoved;
  // What is taken out above the place moves it up.
  const bool group_gone = take(next, source);
  const bool same_list =
      source.inner.has_value() == place.inner.has_value() && (!source.inner || source.outer == place.outer);
  if (same_list && index_of(source) < index_of(place)) {
    --(place.inner ? *place.inner : place.outer);
  } else if ((!source.inner || group_gone) && source.outer < place.outer) {
    --place.outer;
  }
  std::vector<Step>& list = list_of(next, place);
  list.insert(list.begin() + index_of(place), std::move(moved));
  if (next == present_) return std::nullopt;
  const std::vector<DraftRow> now = rows_of(next);
  const auto landed = std::ranges::find_if(now, [&](const DraftRow& row) { return step_of(next, row).line == kMoved; });
  commit(std::move(next));
  return static_cast<std::size_t>(landed - now.begin());
}

bool Draft::set_batch(std::size_t row, std::int32_t batch) {
  Schedule next = present_;
  Step* step = find(next, row);
  if (step == nullptr || batch < 0 || batch > schedule::kMaxBatch) return false;
  if (auto* stage = std::get_if<StageStep>(&step->action)) {
    stage->batch = batch;
  } else if (auto* wait = std::get_if<WaitStep>(&step->action);
             wait != nullptr && std::holds_alternative<std::string>(wait->source)) {
    wait->event_batch = batch;
  } else {
    return false;
  }
  if (next == present_) return false;
  commit(std::move(next));
  return true;
}

bool Draft::set_stream(std::size_t row, const std::string& stream) {
  Schedule next = present_;
  Step* step = find(next, row);
  const auto index = present_.stream_named(stream);
  if (step == nullptr || (!index && stream != kHost)) return false;
  if (auto* wait = std::get_if<WaitStep>(&step->action)) {
    wait->waiter = index;
  } else if (auto* stage = std::get_if<StageStep>(&step->action); stage != nullptr && index) {
    stage->stream = *index;
  } else if (auto* record = std::get_if<RecordStep>(&step->action); record != nullptr && index) {
    record->stream = *index;
  } else {
    return false;
  }
  if (next == present_) return false;
  commit(std::move(next));
  return true;
}

bool Draft::set_waits(std::size_t row, const std::vector<std::string>& sources) {
  Schedule next = present_;
  Step* step = find(next, row);
  if (step == nullptr) return false;
  if (auto* wait = std::get_if<WaitStep>(&step->action)) {
    if (sources.size() != 1 || sources.front().empty()) return false;
    if (const auto index = present_.stream_named(sources.front())) {
      wait->source = *index;
      wait->event_batch = 0;
    } else {
      wait->source = sources.front();
    }
  } else if (auto* stage = std::get_if<StageStep>(&step->action)) {
    stage->after.clear();
    for (const std::string& source : sources) {
      const auto index = present_.stream_named(source);
      if (!index) return false;
      stage->after.push_back(*index);
    }
  } else {
    return false;
  }
  if (next == present_) return false;
  commit(std::move(next));
  return true;
}

bool Draft::add_wait(std::size_t row, const std::string& waiter, const std::string& source) {
  const std::vector<DraftRow> all = rows();
  const auto from = present_.stream_named(source);
  const auto by = present_.stream_named(waiter);
  if (row > all.size() || !from || (!by && waiter != kHost)) return false;
  Schedule next = present_;
  const Step wait{WaitStep{*from, by, 0}, 0};
  if (row == all.size()) {
    next.iteration.push_back(wait);
  } else {
    std::vector<Step>& list = list_of(next, all[row]);
    list.insert(list.begin() + index_of(all[row]), wait);
  }
  commit(std::move(next));
  return true;
}

bool Draft::remove(std::size_t row) {
  const std::vector<DraftRow> all = rows();
  if (row >= all.size()) return false;
  Schedule next = present_;
  take(next, all[row]);
  commit(std::move(next));
  return true;
}

bool Draft::add_stream(const std::string& name) {
  if (name.empty() || name == kHost || present_.stream_named(name)) return false;
  Schedule next = present_;
  next.streams.push_back({name, 0, std::nullopt});
  commit(std::move(next));
  return true;
}

bool Draft::rename(const std::string& name) {
  if (name.empty() || name == present_.name) return false;
  // Predictions are told apart by name: this one's would stand in the place of the built-in one's.
  const auto built_in = schedule::library();
  if (std::ranges::find(built_in, name, &schedule::LibraryEntry::name) != built_in.end()) return false;
  Schedule next = present_;
  next.name = name;
  commit(std::move(next));
  return true;
}

void Draft::replace(Schedule schedule) {
  schedule.name = present_.name;
  schedule.source = present_.source;
  commit(std::move(schedule));
}

void Draft::undo() {
  if (past_.empty()) return;
  future_.push_back(std::exchange(present_, past_.back()));
  past_.pop_back();
}

void Draft::redo() {
  if (future_.empty()) return;
  past_.push_back(std::exchange(present_, future_.back()));
  future_.pop_back();
}

}  // namespace interlace::gui
