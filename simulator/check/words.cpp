#include "simulator/check/words.hpp"

#include <fmt/format.h>

namespace interlace::check {

std::string relative(std::int64_t batch, std::int64_t iteration) { return schedule::batch_word(batch - iteration); }

std::string name_of(const schedule::StageStep& step) {
  std::string text(schedule::to_string(step.stage));
  if (step.part) text += fmt::format(" ({})", schedule::to_string(*step.part));
  if (step.module) text += fmt::format(" [{}]", *step.module);
  return text;
}

std::string name_of(const schedule::StageStep& step, std::int64_t batch) {
  return fmt::format("{}({})", name_of(step), schedule::batch_word(batch));
}

std::string name_of(const Program& program, const Operation& operation, std::int64_t iteration) {
  const schedule::StageStep& step = program.stage(operation.stage);
  std::string stage = name_of(step, operation.batch - iteration);
  switch (operation.role) {
    case Role::kWork: return stage;
    case Role::kCollective:
      // Of a stage that is nothing but a collective, the stage says it all.
      return step.stage == schedule::Stage::kAllToAll ? stage : "a collective of " + stage;
    case Role::kTableUpdate: return "the table update of " + stage;
    case Role::kSideGradient: return "gradients of " + stage;
    case Role::kHostRead: return "the host's read of " + stage;
  }
  return stage;
}

std::string name_of(const Program& program, const Datum& datum, std::int64_t iteration) {
  std::string text = datum.resource || !datum.on_host ? datum.name : "the copy";
  if (datum.batch) text += fmt::format("({})", relative(*datum.batch, iteration));
  if (datum.module && !program.modules[*datum.module].empty()) {
    text += fmt::format(" [{}]", program.modules[*datum.module]);
  }
  return text;
}

int line_of(const Program& program, const Operation& operation) {
  return program.stages[operation.stage.index()].step->line;
}

std::string place_of(const schedule::PlacedStep& placed) {
  if (placed.step->line > 0) return fmt::format("line {}", placed.step->line);
  return fmt::format("step {}", placed.at.outer + placed.at.inner + 1);
}

}  // namespace interlace::check
