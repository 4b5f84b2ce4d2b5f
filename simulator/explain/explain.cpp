#include "simulator/explain/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "simulator/explain/differences.hpp"

namespace interlace::explain {

namespace {

/// Positions of a rank in both runs.
using RankPairs = std::vector<std::pair<std::size_t, std::size_t>>;

RankPairs common_ranks(const trace::Trace& measured, const trace::Trace& predicted) {
  RankPairs pairs;
  for (std::size_t a = 0; a < measured.ranks().size(); ++a) {
    for (std::size_t b = 0; b < predicted.ranks().size(); ++b) {
      if (measured.ranks()[a].number == predicted.ranks()[b].number) pairs.emplace_back(a, b);
    }
  }
  if (pairs.empty()) {
    throw Error(kNoCommonRank, predicted.ranks().empty() ? "" : predicted.ranks().front().source,
                "it has no rank that the measured trace has", "give recordings of the same ranks");
  }
  return pairs;
}

double mean_step(const std::vector<Interval>& steps) {
  return static_cast<double>(steps.back().end - steps.front().begin) / static_cast<double>(steps.size());
}

std::size_t most_steps(const Run& run) {
  std::size_t most = 0;
  for (const auto& steps : run.steps) most = std::max(most, steps.size());
  return most;
}

/// Whole nanoseconds that add up to `total`: each part is the step of the rounded running sum.
std::vector<Part> rounded(const PartTimes& times, Nanoseconds total) {
  std::vector<std::pair<PartKey, double>> sorted(times.begin(), times.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& one) { return std::abs(one.second); });
  std::vector<Part> parts;
  double running = 0;
  Nanoseconds given = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    running += sorted[i].second;
    const Nanoseconds upto = i + 1 == sorted.size() ? total : std::llround(running);
    if (upto != given) {
      const PartKey& key = sorted[i].first;
      parts.push_back({key.cause, key.stage, key.of_stage, key.operation, upto - given});
    }
    given = upto;
  }
  return parts;
}

}  // namespace

std::string_view to_string(Cause cause) {
  static constexpr std::array<std::string_view, kCauses> kNames{"durations", "waits", "host",
                                                                "order",     "start", "unexplained"};
  return kNames[static_cast<std::size_t>(cause)];
}

Nanoseconds Explanation::of(Cause cause) const {
  Nanoseconds sum = 0;
  for (const Part& part : parts) sum += part.cause == cause ? part.effect_ns : 0;
  return sum;
}

Explanation explain(const Run& measured, const Run& predicted, Diagnostics& of_measured, Diagnostics& of_predicted) {
  const RankPairs ranks = common_ranks(*measured.trace, *predicted.trace);
  WorkNames known;
  const NamedWork measured_names = known.name_device_work(measured);
  NamedWork predicted_names = known.name_device_work(predicted);
  known.join_across_stages(measured_names, predicted_names);
  const graph::Graph measured_graph(*measured.trace, of_measured);
  const graph::Graph predicted_graph(*predicted.trace, of_predicted);
  const auto before = step_paths(measured_graph, measured, measured_names, known);
  const auto now = step_paths(predicted_graph, predicted, predicted_names, known);
  ComparedRun measured_run{&measured, &measured_names, {}};
  ComparedRun predicted_run{&predicted, &predicted_names, {}};
  for (const auto& [a, b] : ranks) {
    measured_run.ranks.push_back(a);
    predicted_run.ranks.push_back(b);
  }
  const auto measured_times = name_times(measured_run, known.size());
  const auto predicted_times = name_times(predicted_run, known.size());

  Explanation result;
  const PathDifference difference(known, measured_times, predicted_times);
  PartTimes times;
  double measured_step = 0;
  double predicted_step = 0;
  for (const auto& [a, b] : ranks) {
    const double share = 1.0 / static_cast<double>(ranks.size());
    measured_step += share * mean_step(measured.steps[a]);
    predicted_step += share * mean_step(predicted.steps[b]);
    const double weight = share / static_cast<double>(before[a].size() * now[b].size());
    for (const StepPath& one : before[a]) {
      for (const StepPath& other : now[b]) difference.add(one, other, weight, times);
    }
  }
  result.measured_step_ns = std::llround(measured_step);
  result.predicted_step_ns = std::llround(predicted_step);
  result.measured_steps = most_steps(measured);
  result.predicted_steps = most_steps(predicted);
  result.all_measured_steps = measured.all_steps;
  result.all_predicted_steps = predicted.all_steps;
  result.parts = rounded(times, result.difference_ns());
  result.matching = match(measured_run, measured_times, predicted_run, predicted_times, known);
  return result;
}

}  // namespace interlace::explain
