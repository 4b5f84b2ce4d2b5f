#include "simulator/schedule/validate.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "simulator/schedule/effects.hpp"
#include "simulator/schedule/step_checks.hpp"

namespace interlace::schedule {

std::vector<PlacedStep> placed_steps(const Schedule& schedule) {
  std::vector<PlacedStep> placed;
  for (std::size_t outer = 0; outer < schedule.iteration.size(); ++outer) {
    const Step& step = schedule.iteration[outer];
    const auto* group = std::get_if<ForEachModule>(&step.action);
    if (group == nullptr) {
      placed.push_back({&step, {outer, 0}, false});
      continue;
    }
    for (std::size_t inner = 0; inner < group->steps.size(); ++inner) {
      placed.push_back({&group->steps[inner], {outer, inner}, true});
    }
  }
  return placed;
}

std::vector<std::string> module_names(const std::vector<PlacedStep>& steps) {
  std::set<std::string> names;
  for (const PlacedStep& placed : steps) {
    const auto* stage = std::get_if<StageStep>(&placed.step->action);
    if (stage != nullptr && stage->module && goes_module_by_module(*stage)) names.insert(*stage->module);
  }
  return {names.begin(), names.end()};
}

std::vector<Problem> find_problems(const Schedule& schedule) {
  std::vector<Problem> problems;
  const std::vector<PlacedStep> steps = placed_steps(schedule);
  check_stages(steps, problems);
  check_events(steps, problems);
  std::ranges::stable_sort(problems, {}, &Problem::line);
  return problems;
}

void validate(const Schedule& schedule) {
  auto problems = find_problems(schedule);
  if (!problems.empty()) throw InvalidSchedule(schedule.source, std::move(problems));
}

}  // namespace interlace::schedule
