#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/schedule.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::check {

/// The step at a place, which must be one of placed_steps().
[[nodiscard]] const schedule::Step& step_at(const schedule::Schedule& schedule, schedule::Position at);
[[nodiscard]] schedule::Step& step_at(schedule::Schedule& schedule, schedule::Position at);

/// Puts a step above (or below) the one at a place, inside the same for_each where that stands in one.
void insert_above(schedule::Schedule& schedule, schedule::Position at, schedule::Step step);
void insert_below(schedule::Schedule& schedule, schedule::Position at, schedule::Step step);
/// A for_each that is left empty goes too.
void erase(schedule::Schedule& schedule, schedule::Position at);

/// A wait that the schedule spells out: a wait step, or a stream of a stage's "after".
struct WrittenWait {
  schedule::Position at;
  std::optional<std::size_t> after;  ///< position in "after"; none: a wait step
  int line = 0;
  std::string text;  ///< `{"wait": "memcpy", "stream": "main"}`, or `"after": ["memcpy"]`
};
[[nodiscard]] std::vector<WrittenWait> written_waits(const schedule::Schedule& schedule);
[[nodiscard]] schedule::Schedule without(const schedule::Schedule& schedule, const WrittenWait& wait);

/// As a schedule file writes it.
[[nodiscard]] std::string text_of(const schedule::Schedule& schedule, const schedule::WaitStep& wait);

/// A name for an event that the schedule does not have: `wanted`, or with a number behind it.
[[nodiscard]] std::string new_name(const schedule::Schedule& schedule, const std::string& wanted);

}  // namespace interlace::check
