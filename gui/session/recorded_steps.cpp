#include "gui/session/recorded_steps.hpp"

#include <optional>
#include <string>

#include "simulator/analysis/annotations.hpp"
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

}  // namespace

std::vector<std::vector<Interval>> steps_of_recording(const trace::Trace& trace, const stages::Cut* cut) {
  const analysis::Annotations annotations(trace);
  const auto found =
      analysis::steps_ended_by(trace, annotations, cut == nullptr ? std::nullopt : optimizer_label(annotations, *cut));
  std::vector<std::vector<Interval>> steps;
  for (const auto& of_rank : found) steps.push_back(of_rank ? of_rank->spans() : std::vector<Interval>());
  return steps;
}

}  // namespace interlace::gui
