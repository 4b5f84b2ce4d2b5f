#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// How well a schedule explains a recording.
struct Likeness {
  /// Part of the recorded calls that the schedule lets follow the call recorded before them.
  double order = 0;
  /// Part of the recorded works whose recorded stream stands for one of the schedule's only.
  double streams = 0;
  /// How many of the schedule's waits between streams recorded work kept that was launched before they were over, less
  /// those that it did not keep.
  std::int64_t waits = 0;
  /// In [0, 1]: 1 where the recording is what the schedule would have left.
  [[nodiscard]] double score() const { return order * streams; }
};

/// Compiles the schedule for the recording and compares host order and streams with what was recorded. None where the
/// schedule runs a stage that the recording lacks.
[[nodiscard]] std::optional<Likeness> likeness(const schedule::Schedule& schedule, const trace::Trace& trace,
                                               const stages::Cut& cut, const SiteTable& table);

/// The schedule that a recording says it was made under, by an annotation "schedule <name>" as the engine's have it.
/// None where there is no such annotation, or several.
[[nodiscard]] std::optional<std::string_view> named_schedule(const trace::Trace& trace);

/// The schedule that a recording was most likely made under: of those that score at least `least` the one that it
/// names, else the one most alike; of equals the one whose waits were kept most, of these the first. Schedules that
/// differ only in memory, priorities, or waits that nothing ever had to wait for cannot be told apart but by name.
[[nodiscard]] const schedule::Schedule* recognise(std::span<const schedule::Schedule> candidates,
                                                  const trace::Trace& trace, const stages::Cut& cut,
                                                  const SiteTable& table, double least = 0.9);

}  // namespace interlace::replay
