#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/schedule.hpp"

namespace interlace::gui {

/// A line of a schedule as it is edited: a step, or the head of a for_each. Steps inside one follow it.
struct DraftRow {
  enum class Kind : std::uint8_t { kStage, kWait, kRecord, kGroup };

  Kind kind = Kind::kStage;
  std::size_t outer = 0;             ///< in Schedule::iteration
  std::optional<std::size_t> inner;  ///< in the for_each that stands there

  bool operator==(const DraftRow&) const = default;
};

/// A schedule under the hands of a user: edits that can be undone. An edit that makes no sense changes nothing and
/// returns false; one that makes the schedule wrong is carried out, since the way to a right one leads through wrong
/// ones. Lines are rows, from 1: what checks say of a line is of that row.
class Draft {
 public:
  /// Named "mine/<last part of the name>", unless it is a user's own already.
  explicit Draft(schedule::Schedule schedule);

  [[nodiscard]] const schedule::Schedule& schedule() const { return present_; }
  [[nodiscard]] std::vector<DraftRow> rows() const;
  /// REQUIRES: row is one of rows().
  [[nodiscard]] const schedule::Step& step(std::size_t row) const;

  /// Puts a row above the one at `to`, or behind the last, and returns the row that it is now; none where it stays.
  /// A for_each moves with its steps and cannot go into another. A step of a for_each that is put right behind it
  /// becomes its last one; one that is its last leaves it.
  std::optional<std::size_t> move(std::size_t from, std::size_t to);
  /// Up or down by one place, and returns the row that it is now; none where it stays. A for_each goes past its
  /// neighbour with all its steps; other rows go through one place by place.
  std::optional<std::size_t> move_by_one(std::size_t from, bool up);
  /// Of a stage, or of a wait for an event.
  bool set_batch(std::size_t row, std::int32_t batch);
  /// Of a stage, its stream; of a wait, the waiter; of a record, where it stands. "host": only of a wait.
  bool set_stream(std::size_t row, const std::string& stream);
  /// Of a stage, the streams in "after"; of a wait, the one stream or event that is waited for.
  bool set_waits(std::size_t row, const std::vector<std::string>& sources);
  /// A wait of `waiter` for `source` above a row, in the same for_each.
  bool add_wait(std::size_t row, const std::string& waiter, const std::string& source);
  bool remove(std::size_t row);
  bool add_stream(const std::string& name);
  /// A built-in schedule's name is refused.
  bool rename(const std::string& name);
  /// Takes another schedule over, as a repaired one; the name stays.
  void replace(schedule::Schedule schedule);

  [[nodiscard]] bool can_undo() const { return !past_.empty(); }
  [[nodiscard]] bool can_redo() const { return !future_.empty(); }
  void undo();
  void redo();

 private:
  [[nodiscard]] schedule::Step* find(schedule::Schedule& in, std::size_t row) const;
  /// Takes a row away and puts it to a place that is told as if it were still where it is.
  std::optional<std::size_t> put(const DraftRow& source, DraftRow place);
  void commit(schedule::Schedule next);

  schedule::Schedule present_;
  std::vector<schedule::Schedule> past_;
  std::vector<schedule::Schedule> future_;
};

}  // namespace interlace::gui
