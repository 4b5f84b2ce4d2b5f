#include "simulator/replay/host_pace.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/base/unrecorded_steps.hpp"
#include "simulator/replay/program.hpp"
#include "simulator/replay/simulation.hpp"

namespace interlace::replay {

namespace {

/// Spread of the scale over recordings (PyTorch's profiler 0.55 to 0.97, the collector from 0.5), and of replayed over
/// recorded step times (0.023 over the recordings of 26 campaigns): what the two pieces of evidence weigh.
constexpr double kScaleSpread = 0.15;
constexpr double kRatioSpread = 0.025;

/// Told steps that are shorter by this much than a replay with next to no host are none.
constexpr double kBeyondDoubt = 4 * kRatioSpread;

constexpr std::size_t kScales = 20;
constexpr double kScaleStep = 0.05;
constexpr std::size_t kBetween = 10;

double scale_at(double index) { return kScaleStep * (1.0 + index); }

double squared(double value) { return value * value; }

}  // namespace

std::optional<double> unrecorded_step_ns(const trace::Trace& trace) {
  std::optional<double> slowest;
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const trace::OperationId op{i};
    if (trace.kind(op) != trace::OperationKind::kRange) continue;
    const auto told = unrecorded_steps_of(trace.name(op));
    if (!told) continue;
    slowest = std::max(slowest.value_or(0.0), static_cast<double>(told->time) / static_cast<double>(told->steps));
  }
  return slowest;
}

bool learn_host_pace(double unrecorded_ns, const stages::Cut& cut, const schedule::Schedule& recorded,
                     SiteTable& table) {
  if (table.step_ns <= 0) return true;
  const Plan plan = compile(recorded, cut, table);
  const auto replayed_ns = [&](const SimulationOptions& options) {
    SimulationOptions without_jitter = on_recorded_machine(options, table);
    without_jitter.jitter = false;
    return statistics::mean(simulate(plan, table, without_jitter).steps_ns);
  };
  const double as_recorded = replayed_ns({.as_recorded = true});
  if (as_recorded <= 0) return true;
  std::vector<double> step(kScales);
  tbb::parallel_for(std::size_t{0}, kScales,
                    [&](std::size_t i) { step[i] = replayed_ns({.host_scale = scale_at(static_cast<double>(i))}); });
  // A slower host makes no step shorter. Where it decides little, who wins a race does, by a percent up and down.
  step = statistics::non_decreasing(step);
  const double gain = unrecorded_ns / static_cast<double>(table.step_ns);
  if (gain < (1.0 - kBeyondDoubt) * step.front() / as_recorded) return false;
  const auto misfit = [&](double index) {
    const auto below = std::min(kScales - 2, static_cast<std::size_t>(index));
    const double part = index - static_cast<double>(below);
    const double replayed = ((1.0 - part) * step[below] + part * step[below + 1]) / as_recorded;
    return squared((replayed / gain - 1.0) / kRatioSpread) + squared((scale_at(index) - kLikelyScale) / kScaleSpread);
  };
  // The likeliest jumped with a kernel of some microseconds, and base of `t6_batch_2048` from 7.3 to 7.9 ms with it.
  const auto index_at = [](std::size_t k) { return static_cast<double>(k) / kBetween; };
  std::vector<double> misfits(kBetween * (kScales - 1) + 1);
  for (std::size_t k = 0; k < misfits.size(); ++k) misfits[k] = misfit(index_at(k));
  const double least = *std::ranges::min_element(misfits);
  double weights = 0;
  double weighted = 0;
  for (std::size_t k = 0; k < misfits.size(); ++k) {
    const double weight = std::exp(-0.5 * (misfits[k] - least));
    weights += weight;
    weighted += weight * scale_at(index_at(k));
  }
  table.host_scale = weighted / weights;
  table.fitted.emplace_back("host time without the recorder");
  return true;
}

}  // namespace interlace::replay
