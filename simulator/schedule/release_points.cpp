#include "simulator/schedule/release_points.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulator/schedule/step_checks.hpp"

namespace interlace::schedule {

namespace {

bool makes(const StageStep& step, Resource resource) {
  const std::vector<Resource> writes = writes_of(step);
  return std::ranges::find(writes, resource) != writes.end();
}

bool touches(const StageStep& step, Resource resource) {
  const std::vector<Read> reads = reads_of(step);
  return makes(step, resource) || std::ranges::find(reads, resource, &Read::resource) != reads.end();
}

bool frees(const StageStep& step, Resource resource) {
  return std::ranges::find(step.frees, traits_of(resource).name) != step.frees.end();
}

/// The step that comes last to a batch: the farther ahead a step works, the sooner it comes to it.
template <class Wanted>
const StageStep* last_to_come(const std::vector<const StageStep*>& steps, const Wanted& wanted) {
  const StageStep* last = nullptr;
  for (const StageStep* step : steps) {
    if (wanted(*step) && (last == nullptr || step->batch <= last->batch)) last = step;
  }
  return last;
}

}  // namespace

std::optional<ReleasePoint> release_point(const Schedule& schedule, Resource resource) {
  std::vector<const StageStep*> steps;
  for (const PlacedStep& placed : placed_steps(schedule)) {
    if (const auto* step = std::get_if<StageStep>(&placed.step->action)) steps.push_back(step);
  }
  if (const StageStep* freeing = last_to_come(steps, [&](const StageStep& step) { return frees(step, resource); })) {
    return ReleasePoint{freeing};
  }
  const StageStep* last = last_to_come(steps, [&](const StageStep& step) { return touches(step, resource); });
  if (last == nullptr) return std::nullopt;
  for (const StageStep* maker : steps) {
    if (!maker->kept_until || !makes(*maker, resource)) continue;
    if (!maker->kept_until->stage) return ReleasePoint{};
    const Stage until = *maker->kept_until->stage;
    last = last_to_come(steps, [&](const StageStep& step) { return &step == last || step.stage == until; });
  }
  return ReleasePoint{last};
}

bool is_later(const Schedule& schedule, const ReleasePoint& a, const ReleasePoint& b) {
  // By iteration, then by the step's place in it.
  const auto order = [&](const ReleasePoint& point) {
    const std::vector<PlacedStep> steps = placed_steps(schedule);
    if (point.behind == nullptr) return std::pair(0, steps.size());
    const auto at = std::ranges::find(
        steps, point.behind, [](const PlacedStep& placed) { return std::get_if<StageStep>(&placed.step->action); });
    return std::pair(-point.behind->batch, static_cast<std::size_t>(at - steps.begin()));
  };
  return order(a) > order(b);
}

}  // namespace interlace::schedule
