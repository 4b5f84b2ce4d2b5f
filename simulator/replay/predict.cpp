#include "simulator/replay/predict.hpp"

#include <algorithm>
#include <cmath>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/predicted_trace.hpp"

namespace interlace::replay {

Predictor::Predictor(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics)
    : trace_(&trace), cut_(&cut), sites_(find_sites(trace, cut, diagnostics)) {}

Prediction Predictor::predict(const schedule::Schedule& schedule, const PredictOptions& options) const {
  const Plan plan = compile(schedule, *cut_, sites_);
  const SimulationResult result = simulate(plan, sites_, options.simulation);
  std::vector<double> steps = result.steps_ns;
  for (std::int32_t run = 1; run < options.runs; ++run) {
    SimulationOptions other = options.simulation;
    other.seed += static_cast<std::uint64_t>(run);
    const SimulationResult more = simulate(plan, sites_, other);
    steps.insert(steps.end(), more.steps_ns.begin(), more.steps_ns.end());
  }

  const std::int32_t first = options.simulation.warm_up;
  trace::Trace predicted = predicted_trace(*trace_, plan, result, first, options.shown_steps);
  std::vector<std::vector<Interval>> windows;
  for (const std::vector<double>& ends : result.iteration_ends) {
    auto& of_rank = windows.emplace_back();
    for (std::int32_t i = first; i < first + options.shown_steps; ++i) {
      const auto end = [&](std::int32_t k) {
        return static_cast<Nanoseconds>(std::llround(ends[static_cast<std::size_t>(k)])) - predicted.origin();
      };
      of_rank.push_back({end(i - 1), end(i)});
    }
  }
  const auto nanoseconds = [](double value) { return static_cast<Nanoseconds>(std::llround(value)); };
  return {schedule.name,
          nanoseconds(statistics::mean(steps)),
          nanoseconds(statistics::quantile(steps, 0.1)),
          nanoseconds(statistics::quantile(steps, 0.9)),
          {},
          std::move(predicted),
          std::move(windows)};
}

}  // namespace interlace::replay
