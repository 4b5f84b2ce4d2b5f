#include "simulator/stages/bind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "simulator/schedule/effects.hpp"

namespace interlace::stages {

namespace {

void number_modules(std::span<schedule::Step> steps, const Cut& recording, const std::string& schedule) {
  for (schedule::Step& step : steps) {
    if (auto* loop = std::get_if<schedule::ForEachModule>(&step.action))
      number_modules(loop->steps, recording, schedule);
    auto* stage = std::get_if<schedule::StageStep>(&step.action);
    if (stage == nullptr || !stage->module || schedule::names_its_own(stage->stage)) continue;
    const auto found = std::ranges::find(recording.modules, *stage->module);
    if (found == recording.modules.end()) {
      throw Error(kUnknownModule, schedule,
                  fmt::format("stage \"{}\": the recording has no module \"{}\"", schedule::to_string(stage->stage),
                              *stage->module),
                  fmt::format("its modules are {}; name one of them, or run the stage for all",
                              fmt::join(recording.modules, ", ")));
    }
    stage->module_number = static_cast<std::uint32_t>(found - recording.modules.begin());
  }
}

}  // namespace

schedule::Schedule bound_to(const Cut& recording, schedule::Schedule schedule) {
  number_modules(schedule.iteration, recording, schedule.name);
  return schedule;
}

}  // namespace interlace::stages
