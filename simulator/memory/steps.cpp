#include "simulator/memory/steps.hpp"

#include <algorithm>
#include <span>

namespace interlace::memory {

namespace {

void collect(std::span<const schedule::Step> steps, std::vector<const schedule::StageStep*>& found) {
  for (const schedule::Step& step : steps) {
    if (const auto* stage = std::get_if<schedule::StageStep>(&step.action)) {
      found.push_back(stage);
    } else if (const auto* loop = std::get_if<schedule::ForEachModule>(&step.action)) {
      collect(loop->steps, found);
    }
  }
}

}  // namespace

std::vector<const schedule::StageStep*> stage_steps(const schedule::Schedule& schedule) {
  std::vector<const schedule::StageStep*> found;
  collect(schedule.iteration, found);
  return found;
}

bool runs_by_module(const schedule::Schedule& schedule, const schedule::StageStep& step) {
  return std::ranges::any_of(schedule.iteration, [&](const schedule::Step& one) {
    const auto* loop = std::get_if<schedule::ForEachModule>(&one.action);
    return loop != nullptr && std::ranges::any_of(loop->steps, [&](const schedule::Step& inner) {
             return std::get_if<schedule::StageStep>(&inner.action) == &step;
           });
  });
}

std::optional<StepRun> step_run_of(const schedule::Schedule& schedule, const stages::SegmentKey& segment) {
  const std::vector<const schedule::StageStep*> steps = stage_steps(schedule);
  std::optional<StepRun> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!runs_segment(*steps[i], segment)) continue;
    if (found) return std::nullopt;
    found = {i, runs_by_module(schedule, *steps[i]) ? segment.module : std::nullopt};
  }
  return found;
}

bool runs_segment(const schedule::StageStep& step, const stages::SegmentKey& segment) {
  if (step.stage != segment.stage) return false;
  if (step.module_number && segment.module && segment.module->value != *step.module_number) return false;
  if (!step.part) return true;
  return segment.of_dense_part() == (*step.part == schedule::Part::kDense);
}

const schedule::StageStep* step_of(const schedule::Schedule& schedule, const stages::SegmentKey& segment) {
  for (const schedule::StageStep* step : stage_steps(schedule)) {
    if (runs_segment(*step, segment)) return step;
  }
  return nullptr;
}

}  // namespace interlace::memory
