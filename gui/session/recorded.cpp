#include "gui/session/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gui/session/freed_memory.hpp"
#include "gui/session/recorded_steps.hpp"
#include "gui/session/tagging.hpp"
#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/clock_offsets.hpp"
#include "simulator/analysis/step_analysis.hpp"
#include "simulator/cli/recorded_run.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/ingest/read.hpp"
#include "simulator/replay/recorded_schedule.hpp"
#include "simulator/schedule/library.hpp"

namespace interlace::gui {

namespace {

/// A recording without the annotations of the profile can be looked at all the same.
void cut(const trace::Trace& trace, const stages::Profile& profile, Recorded& recorded) {
  try {
    recorded.cut = stages::cut(trace, profile, recorded.diagnostics);
  } catch (const Error& error) {
    recorded.no_predictions = error.problem();
  }
}

/// So can one without device work.
std::optional<replay::SiteTable> find_sites(const trace::Trace& trace, const graph::ProcessGroups& groups,
                                            Recorded& recorded) {
  if (!recorded.cut) return std::nullopt;
  try {
    replay::SiteTable table = replay::find_sites(trace, *recorded.cut, groups, recorded.diagnostics);
    const std::vector<schedule::Schedule> library = schedule::all_sound();
    const schedule::Schedule* known =
        replay::recorded_schedule(library, trace, *recorded.cut, table, recorded.diagnostics);
    if (known != nullptr) recorded.schedule = *known;
    return table;
  } catch (const Error& error) {
    recorded.cut.reset();
    recorded.no_predictions = error.problem();
    return std::nullopt;
  }
}

/// What cannot be predicted can still be looked at.
void make_predictor(replay::SiteTable sites, Recorded& recorded) {
  recorded.predictor.emplace(recorded.run->trace(), *recorded.cut, std::move(sites));
  if (!recorded.schedule) return;
  try {
    recorded.predictor->learn_memory(*recorded.schedule, recorded.diagnostics);
  } catch (const Error& error) {
    recorded.predictor.reset();
    recorded.no_predictions = error.problem();
  }
}

void describe(const trace::Trace& trace, Recorded& recorded) {
  std::vector<std::string> files;
  for (const std::filesystem::path& file : recorded.files) files.push_back(file.string());
  const auto steps = analysis::recorded_steps(trace, analysis::Annotations(trace));
  recorded.facts = cli::recorded_run(trace, std::move(files), steps);
  if (recorded.schedule) recorded.facts.schedule = recorded.schedule->name;
}

}  // namespace

RecordedPtr open_recording(std::vector<std::filesystem::path> files, const Progress& progress,
                           const std::optional<stages::Profile>& profile) {
  auto recorded = std::make_shared<Recorded>();
  recorded->files = std::move(files);
  progress.begin(recorded->files.size() == 1 ? fmt::format("reading {}", recorded->files.front().filename().string())
                                             : fmt::format("reading {} files", recorded->files.size()));
  ingest::Recording recording = ingest::read(recorded->files);
  recorded->diagnostics = std::move(recording.diagnostics);
  progress.begin("cutting the recording into stages");
  cut(recording.trace, profile ? *profile : stages::profile_of(recording.trace), *recorded);
  const graph::ProcessGroups groups(recording.trace, recorded->diagnostics);
  std::optional<replay::SiteTable> sites = find_sites(recording.trace, groups, *recorded);
  const stages::Cut* its_stages = recorded->cut ? &*recorded->cut : nullptr;
  const schedule::Schedule* known = recorded->schedule ? &*recorded->schedule : nullptr;
  std::vector<std::vector<Interval>> steps = steps_of_recording(recording.trace, its_stages);
  describe(recording.trace, *recorded);
  if (sites) cli::add_machine(*sites, recorded->facts);
  recorded->memory = analysis::memory_use(recording.trace);
  progress.begin("laying out the timeline");
  Tags tags = tags_of_recording(recording.trace, its_stages, known);
  Diagnostics of_timeline;  // tell of the arrows, nothing of predictions
  recorded->run = std::make_shared<Run>("measured", std::move(recording.trace), std::move(tags), std::move(steps),
                                        groups, of_timeline);
  if (sites) make_predictor(std::move(*sites), *recorded);
  analysis::count_differing_clocks(recorded->run->trace(), groups, recorded->diagnostics);
  recorded->facts.diagnostics = recorded->diagnostics.entries();
  recorded->diagnostics.merge(of_timeline);
  give_back_freed_memory();
  progress.begin("drawing");
  return recorded;
}

}  // namespace interlace::gui
