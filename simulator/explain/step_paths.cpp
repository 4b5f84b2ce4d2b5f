#include "simulator/explain/step_paths.hpp"

#include <span>

namespace interlace::explain {

namespace {

using graph::EdgeKind;
using trace::OperationId;

class PathBuilder {
 public:
  PathBuilder(const Run& run, const NamedWork& names, WorkNames& known) : run_(&run), names_(&names), known_(&known) {}

  StepPath build(const graph::CriticalPath& path) {
    StepPath elements;
    for (const graph::PathStep& step : path.steps) {
      PathElement element = element_of(step);
      element.unexplained = elements.empty() && step.bound_by == EdgeKind::kDuration && step.before.length() > 0;
      if (elements.empty() && element.total() == 0) continue;  // the window begins behind it
      if (!elements.empty() && continues(elements.back(), element)) {
        elements.back().in += element.in;
        elements.back().operation = element.operation;
        if (!element.host) elements.back().in += element.before;
      } else {
        elements.push_back(element);
      }
    }
    if (path.steps.empty()) {  // no work ends in the window: all of it is open
      elements.push_back({known_->host_in(""), true, {}, 0, path.window.length(), EdgeKind::kDuration, true});
    }
    return elements;
  }

 private:
  PathElement element_of(const graph::PathStep& step) {
    PathElement element{.operation = step.operation, .in = step.in.length(), .bound_by = step.bound_by};
    const auto& name = (*names_)[step.operation.index()];
    if (name) {
      element.name = *name;
      element.before = step.before.length();
    } else {
      element.host = true;
      element.in += step.before.length();
      element.name = known_->host_in(stage_of_call(step.operation));
    }
    return element;
  }

  /// A collective is one work on all ranks; the host goes on within a stage.
  static bool continues(const PathElement& last, const PathElement& next) {
    if (last.host != next.host || last.name != next.name) return false;
    return next.host || next.bound_by == EdgeKind::kRendezvous;
  }

  /// Of a call in no stage, as a wait between two, that of the next call of its thread that is in one.
  [[nodiscard]] std::string stage_of_call(OperationId call) const {
    std::string stage = stage_text(*run_->staged, call);
    if (!stage.empty()) return stage;
    constexpr std::size_t kMostLooked = 256;
    const auto calls = run_->trace->on_lane(run_->trace->lane_of(call));
    std::size_t looked = 0;
    for (auto at = std::ranges::lower_bound(calls, call); at != calls.end() && looked < kMostLooked; ++at, ++looked) {
      if (run_->trace->kind(*at) == trace::OperationKind::kAllocation) continue;
      stage = stage_text(*run_->staged, *at);
      if (!stage.empty()) break;
    }
    return stage;
  }

  const Run* run_;
  const NamedWork* names_;
  WorkNames* known_;
};

}  // namespace

std::vector<std::vector<StepPath>> step_paths(const graph::Graph& graph, const Run& run, const NamedWork& names,
                                              WorkNames& known) {
  PathBuilder builder(run, names, known);
  std::vector<std::vector<StepPath>> all;
  for (const std::vector<Interval>& steps : run.steps) {
    auto& of_rank = all.emplace_back();
    for (const graph::CriticalPath& path : graph::critical_paths(graph, steps)) of_rank.push_back(builder.build(path));
  }
  return all;
}

}  // namespace interlace::explain
