#include <fmt/format.h>

#include <map>
#include <string_view>

#include "simulator/schedule/step_checks.hpp"

namespace interlace::schedule {

namespace {

struct Recording {
  Position at;
  std::int32_t batch = 0;  // a record step stands for the batch of the iteration
  int line = 0;
};

using Recordings = std::map<std::string_view, Recording>;

Recordings find_recordings(const std::vector<PlacedStep>& steps, std::vector<Problem>& problems) {
  Recordings recordings;
  for (const PlacedStep& placed : steps) {
    std::string_view event;
    Recording recording{placed.at, 0, placed.step->line};
    if (const auto* record = std::get_if<RecordStep>(&placed.step->action)) {
      event = record->event;
    } else if (const auto* stage = std::get_if<StageStep>(&placed.step->action); stage != nullptr && stage->record) {
      event = *stage->record;
      recording.batch = stage->batch;
    } else {
      continue;
    }
    const auto [first, added] = recordings.emplace(event, recording);
    if (added) continue;
    problems.push_back(
        {kDuplicateEvent, placed.step->line,
         fmt::format("event \"{}\": recorded in line {} already; give each its own name", event, first->second.line)});
  }
  return recordings;
}

void check_wait(const PlacedStep& placed, const WaitStep& wait, const std::string& event, const Recordings& recordings,
                std::vector<Problem>& problems) {
  const int line = placed.step->line;
  const auto found = recordings.find(event);
  if (found == recordings.end()) {
    problems.push_back({kEventNeverRecorded, line, fmt::format("wait \"{}\": no step records this event", event)});
    return;
  }
  // The event of batch i+e was recorded when the recording step of batch i+r reached it: e - r iterations from now.
  const Recording& recording = found->second;
  const std::int32_t ahead = wait.event_batch - recording.batch;
  if (ahead < 0 || (ahead == 0 && recording.at < placed.at)) return;
  problems.push_back(
      {kEventTooEarly, line,
       fmt::format("wait \"{}\": at this point it was not recorded yet for batch i{:+}; line {} records it "
                   "for batch i{:+}, so the newest that can be waited for here is \"batch\": {}",
                   event, wait.event_batch, recording.line, recording.batch,
                   recording.at < placed.at ? recording.batch : recording.batch - 1)});
}

}  // namespace

void check_events(const std::vector<PlacedStep>& steps, std::vector<Problem>& problems) {
  const Recordings recordings = find_recordings(steps, problems);
  for (const PlacedStep& placed : steps) {
    const auto* wait = std::get_if<WaitStep>(&placed.step->action);
    const auto* event = wait == nullptr ? nullptr : std::get_if<std::string>(&wait->source);
    if (event != nullptr) check_wait(placed, *wait, *event, recordings, problems);
  }
}

}  // namespace interlace::schedule
