#include "simulator/replay/predict.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "simulator/base/statistics.hpp"
#include "simulator/des/random.hpp"
#include "simulator/replay/predicted_trace.hpp"
#include "simulator/replay/races.hpp"

namespace interlace::replay {

namespace {

/// What a run of the ensemble takes for the model's less certain parameters. Spreads: host time without the profiler
/// was 0.68 to 0.97 of the recorded one over the schedules of t2 to t9 (middle half 0.66-0.80); launch latencies of one
/// trace spread by a microsecond.
SimulationOptions drawn(const SimulationOptions& usual, std::uint64_t run) {
  constexpr double kHostSpread = 0.06;
  constexpr double kLatencySpread = 700.0;
  SimulationOptions options = usual;
  options.seed += run;
  if (run == 0 || !options.jitter) return options;
  des::Random random(options.seed * 7919U);
  options.host_scale = std::max(0.3, options.host_scale * (1.0 + kHostSpread * random.normal()));
  options.machine.launch_latency_ns =
      std::max(2'000.0, options.machine.launch_latency_ns + kLatencySpread * random.normal());
  return options;
}

/// Values of a standard normal distribution that stand for it: the middles of sixteen parts of equal probability.
constexpr std::array<double, 16> kNormalSamples{-1.86, -1.32, -1.01, -0.78, -0.58, -0.40, -0.24, -0.08,
                                                0.08,  0.24,  0.40,  0.58,  0.78,  1.01,  1.32,  1.86};

/// Single steps as they may turn out, with what the model itself may be off by.
std::vector<double> with_model_error(const std::vector<double>& steps, double relative_error) {
  std::vector<double> spread;
  spread.reserve(steps.size() * kNormalSamples.size());
  for (const double step : steps) {
    for (const double z : kNormalSamples) spread.push_back(step * (1.0 + relative_error * z));
  }
  return spread;
}

}  // namespace

Predictor::Predictor(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics)
    : Predictor(trace, cut, find_sites(trace, cut, diagnostics)) {}

Predictor::Predictor(const trace::Trace& trace, const stages::Cut& cut, SiteTable sites)
    : trace_(&trace), cut_(&cut), sites_(std::move(sites)) {}

Prediction Predictor::predict(const schedule::Schedule& schedule, const PredictOptions& options) const {
  const Plan plan = compile(schedule, *cut_, sites_);
  SimulationOptions usual = options.simulation;
  usual.machine.launch_latency_ns = sites_.launch_latency_ns;
  usual.machine.collectives_cross_host = sites_.collectives_cross_host;
  usual.machine.host_copy_rate = sites_.host_copy_rate;
  // Each run has a seed of its own and a place of its own: the result does not depend on how many threads there are.
  std::vector<SimulationResult> results(static_cast<std::size_t>(std::max(1, options.runs)));
  tbb::parallel_for(std::size_t{0}, results.size(),
                    [&](std::size_t run) { results[run] = simulate(plan, sites_, drawn(usual, run)); });
  const SimulationResult& result = results.front();
  std::vector<double> steps;
  for (const SimulationResult& one : results) steps.insert(steps.end(), one.steps_ns.begin(), one.steps_ns.end());
  std::vector<std::string> races;
  for (const Race& race : find_races(results, sites_, usual.warm_up, statistics::mean(steps))) {
    races.push_back(race.text());
  }
  const std::vector<double> single_steps = with_model_error(steps, options.model_error);

  const std::int32_t first = options.simulation.warm_up;
  trace::Trace predicted = predicted_trace(*trace_, plan, sites_, result, first, options.shown_steps);
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
          nanoseconds(statistics::quantile(single_steps, 0.1)),
          nanoseconds(statistics::quantile(single_steps, 0.9)),
          std::move(races),
          std::move(predicted),
          std::move(windows)};
}

}  // namespace interlace::replay
