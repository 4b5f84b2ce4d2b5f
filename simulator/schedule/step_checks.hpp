#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/problem.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::schedule {

/// Where a step stands in the host's order of one iteration; compares by that order.
struct Position {
  std::size_t outer = 0;  ///< in Schedule::iteration
  std::size_t inner = 0;  ///< in the for_each that stands there; 0 for others

  auto operator<=>(const Position&) const = default;
};

/// A step that is no for_each, with its place. `step` points into the schedule.
struct PlacedStep {
  const Step* step = nullptr;
  Position at;
  bool in_for_each = false;
};

/// All steps of one iteration in host order, those of a for_each in place of it.
[[nodiscard]] std::vector<PlacedStep> placed_steps(const Schedule& schedule);

/// The sharded modules that steps name, in the order of their names, each once.
[[nodiscard]] std::vector<std::string> module_names(const std::vector<PlacedStep>& steps);

/// The part of find_problems() that concerns stages: placed once, fed by another, in order.
void check_stages(const std::vector<PlacedStep>& steps, std::vector<Problem>& problems);

/// The part of find_problems() that concerns events.
void check_events(const std::vector<PlacedStep>& steps, std::vector<Problem>& problems);

}  // namespace interlace::schedule
