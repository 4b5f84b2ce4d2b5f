#include "simulator/check/edits.hpp"

#include <fmt/format.h>

#include <set>

namespace interlace::check {

namespace {

using schedule::ForEachModule;
using schedule::Position;
using schedule::Schedule;
using schedule::StageStep;
using schedule::Step;
using schedule::WaitStep;

/// The list of steps that a place is in, and the position there.
std::pair<std::vector<Step>*, std::size_t> list_of(Schedule& schedule, Position at) {
  if (auto* group = std::get_if<ForEachModule>(&schedule.iteration[at.outer].action)) return {&group->steps, at.inner};
  return {&schedule.iteration, at.outer};
}

void insert(Schedule& schedule, Position at, std::size_t offset, Step step) {
  const auto [steps, index] = list_of(schedule, at);
  steps->insert(steps->begin() + static_cast<std::ptrdiff_t>(index + offset), std::move(step));
}

}  // namespace

Step& step_at(Schedule& schedule, Position at) {
  const auto [steps, index] = list_of(schedule, at);
  return (*steps)[index];
}

const Step& step_at(const Schedule& schedule, Position at) {
  const Step& outer = schedule.iteration[at.outer];
  const auto* group = std::get_if<ForEachModule>(&outer.action);
  return group == nullptr ? outer : group->steps[at.inner];
}

void insert_above(Schedule& schedule, Position at, Step step) { insert(schedule, at, 0, std::move(step)); }
void insert_below(Schedule& schedule, Position at, Step step) { insert(schedule, at, 1, std::move(step)); }

void erase(Schedule& schedule, Position at) {
  const auto [steps, index] = list_of(schedule, at);
  steps->erase(steps->begin() + static_cast<std::ptrdiff_t>(index));
  if (steps->empty() && steps != &schedule.iteration) {
    schedule.iteration.erase(schedule.iteration.begin() + static_cast<std::ptrdiff_t>(at.outer));
  }
}

std::string text_of(const Schedule& schedule, const WaitStep& wait) {
  const auto* event = std::get_if<std::string>(&wait.source);
  const std::string waiter = wait.waiter ? schedule.stream(*wait.waiter).name : "host";
  if (event == nullptr) {
    return fmt::format(R"({{"wait": "{}", "{}": "{}"}})",
                       schedule.stream(std::get<schedule::StreamIndex>(wait.source)).name,
                       wait.waiter ? "stream" : "on", waiter);
  }
  const std::string batch = wait.event_batch == 0 ? "" : fmt::format(R"("batch": {}, )", wait.event_batch);
  return fmt::format(R"({{"wait": "{}", {}"on": "{}"}})", *event, batch, waiter);
}

std::vector<WrittenWait> written_waits(const Schedule& schedule) {
  std::vector<WrittenWait> waits;
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    if (const auto* wait = std::get_if<WaitStep>(&placed.step->action)) {
      waits.push_back({placed.at, std::nullopt, placed.step->line, text_of(schedule, *wait)});
    } else if (const auto* stage = std::get_if<StageStep>(&placed.step->action)) {
      for (std::size_t i = 0; i < stage->after.size(); ++i) {
        waits.push_back({placed.at, i, placed.step->line,
                         fmt::format(R"("after": ["{}"] of {})", schedule.stream(stage->after[i]).name,
                                     schedule::to_string(stage->stage))});
      }
    }
  }
  return waits;
}

Schedule without(const Schedule& schedule, const WrittenWait& wait) {
  Schedule edited = schedule;
  if (!wait.after) {
    erase(edited, wait.at);
  } else {
    auto& after = std::get<StageStep>(step_at(edited, wait.at).action).after;
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(*wait.after));
  }
  return edited;
}

std::string new_name(const Schedule& schedule, const std::string& wanted) {
  std::set<std::string> taken;
  for (const schedule::Stream& stream : schedule.streams) taken.insert(stream.name);
  for (const schedule::PlacedStep& placed : schedule::placed_steps(schedule)) {
    if (const auto* record = std::get_if<schedule::RecordStep>(&placed.step->action)) taken.insert(record->event);
    const auto* stage = std::get_if<StageStep>(&placed.step->action);
    if (stage != nullptr && stage->record) taken.insert(*stage->record);
  }
  std::string name = wanted;
  for (int number = 2; taken.contains(name); ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

}  // namespace interlace::check
