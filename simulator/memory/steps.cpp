#include "simulator/memory/steps.hpp"

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

bool runs_segment(const schedule::StageStep& step, const stages::SegmentKey& segment) {
  if (step.stage != segment.stage) return false;
  if (!step.part) return true;
  return segment.of_dense_part() == (*step.part == schedule::Part::kDense);
}

}  // namespace interlace::memory
