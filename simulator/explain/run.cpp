#include "simulator/explain/run.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "simulator/analysis/step_window.hpp"
#include "simulator/analysis/steps.hpp"

namespace interlace::explain {

namespace {

/// The label of the annotation that the optimizer runs in, as the recorded program calls it.
std::optional<std::string> optimizer_label(const trace::Trace& trace, const trace_check::StagedWork& staged,
                                           const analysis::Annotations& annotations) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace_check::StageRun* run = staged.run({i});
    if (run == nullptr || run->stage != schedule::Stage::kOptimizerStep) continue;
    if (const auto label = annotations.stage_of({i})) return std::string(label->stage);
  }
  return std::nullopt;
}

/// Where the optimizer's annotation is not an outermost one (the engine's lies in "iteration 12"): the last end of what
/// it launched for each batch.
std::vector<Nanoseconds> optimizer_ends(const trace::Trace& trace, const trace_check::StagedWork& staged,
                                        std::size_t rank) {
  std::map<std::int64_t, Nanoseconds> by_batch;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    if (!trace::is_device_work(trace.kind(op)) || trace.rank_of(op).index() != rank) continue;
    const trace_check::StageRun* run = staged.run(op);
    if (run == nullptr || run->stage != schedule::Stage::kOptimizerStep) continue;
    const auto [known, is_new] = by_batch.try_emplace(run->batch, trace.end(op));
    if (!is_new) known->second = std::max(known->second, trace.end(op));
  }
  std::vector<Nanoseconds> ends;
  for (const auto& [batch, end] : by_batch) ends.push_back(end);
  std::ranges::sort(ends);
  return ends;
}

std::vector<Nanoseconds> step_ends(const std::optional<analysis::FoundSteps>& found) {
  if (!found) return {};
  return found->device_end.empty() ? found->host : found->device_end;
}

}  // namespace

Run run_of(const trace::Trace& trace, const trace_check::StagedWork& staged) {
  const analysis::Annotations annotations(trace);
  const auto label = optimizer_label(trace, staged, annotations);
  const auto found =
      label ? analysis::steps_marked_by(trace, annotations, *label) : analysis::find_steps(trace, annotations);
  std::vector<std::vector<Interval>> steps;
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < trace.ranks().size(); ++rank) {
    std::vector<Nanoseconds> ends = step_ends(found[rank]);
    if (ends.size() < 2 && label) ends = optimizer_ends(trace, staged, rank);
    if (ends.size() < 2) {
      throw Error(kNoSteps, trace.ranks()[rank].source,
                  "rank " + std::to_string(trace.ranks()[rank].number) + " has no two step ends to compare",
                  "record at least three steps of an annotated training loop, or give --profile");
    }
    steps.push_back(analysis::steps_between(ends));
    most = std::max(most, steps.back().size());
  }
  return {&trace, &staged, analysis::steady_steps(steps), most};
}

}  // namespace interlace::explain
