#include "gui/session/recorded_steps.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"
#include "simulator/analysis/steps.hpp"

namespace interlace::gui {

namespace {

/// The label of the annotation that the recorded optimizer runs in.
std::optional<std::string> optimizer_label(const analysis::Annotations& annotations, const stages::Cut& cut) {
  for (const stages::RankCut& rank : cut.ranks) {
    if (rank.iterations.empty()) continue;
    for (const stages::Item& item : rank.iterations.front().items) {
      if (item.segment.stage != schedule::Stage::kOptimizerStep) continue;
      if (const auto label = annotations.stage_of(item.call)) return std::string(label->stage);
    }
  }
  return std::nullopt;
}

/// Spans between neighbours that follow each other in time.
std::vector<Interval> between(const std::vector<Nanoseconds>& borders) {
  std::vector<Interval> spans = analysis::steps_between(borders);
  std::erase_if(spans, [](const Interval& span) { return span.begin >= span.end; });
  return spans;
}

/// Empty for ranks whose steps cannot be told so.
std::vector<std::vector<Interval>> by_optimizer(const trace::Trace& trace, const analysis::Annotations& annotations,
                                                const stages::Cut& cut) {
  std::vector<std::vector<Interval>> steps(trace.ranks().size());
  const auto label = optimizer_label(annotations, cut);
  if (!label) return steps;
  const auto marked = analysis::steps_marked_by(trace, annotations, *label);
  for (std::size_t rank = 0; rank < marked.size(); ++rank) {
    if (marked[rank]) steps[rank] = between(marked[rank]->device_end);
  }
  return steps;
}

std::vector<std::vector<Interval>> by_marker(const trace::Trace& trace, const analysis::Annotations& annotations) {
  std::vector<std::vector<Interval>> steps(trace.ranks().size());
  const auto found = analysis::find_steps(trace, annotations);
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    if (!found[rank]) continue;
    steps[rank] = between(found[rank]->device.empty() ? found[rank]->host : found[rank]->device);
  }
  return steps;
}

}  // namespace

std::vector<std::vector<Interval>> steps_of_recording(const trace::Trace& trace, const stages::Cut* cut) {
  const analysis::Annotations annotations(trace);
  if (cut != nullptr) {
    std::vector<std::vector<Interval>> steps = by_optimizer(trace, annotations, *cut);
    if (std::ranges::none_of(steps, [](const auto& of_rank) { return of_rank.empty(); })) return steps;
  }
  return by_marker(trace, annotations);
}

}  // namespace interlace::gui
