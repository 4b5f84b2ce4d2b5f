#include "simulator/replay/predict.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "simulator/base/physical_memory.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/replay/predicted_memory.hpp"
#include "simulator/replay/predicted_trace.hpp"
#include "simulator/replay/races.hpp"
#include "simulator/schedule/effects.hpp"
#include "simulator/stages/bind.hpp"

namespace interlace::replay {

namespace {

/// How far a run of the ensemble is from the usual in what the model is less certain of, in standard deviations. The
/// first is as usual. The others lie around it evenly: their mean is the usual one, each parameter varies by one
/// deviation, and neither goes with the other, so that means over runs hold no luck of draws.
struct Deviation {
  double host;
  double latency;
};
constexpr std::array<Deviation, 4> kDeviations{{{0, 0}, {-1.2247, 0.7071}, {0, -1.4142}, {1.2247, 0.7071}}};

/// What a run takes for these parameters. Spreads: the host scales with which 30 recordings are replayed in the time
/// that they took without the profiler lie 0.14 of the usual about it (docs/benchmarks/host/scales.txt); launch
/// latencies of one trace spread by a microsecond.
SimulationOptions drawn(const SimulationOptions& usual, std::uint64_t run) {
  constexpr double kHostSpread = 0.15;
  constexpr double kLatencySpread = 700.0;
  constexpr double kLargestLatencySpread = 0.25;  // of the latency: where that is small, all remain well above none
  SimulationOptions options = usual;
  // Neighbouring seeds share no run.
  constexpr std::uint64_t kMostRuns = 1U << 20U;
  options.seed = (options.seed - 1) * kMostRuns + 1 + run;
  if (!options.jitter) return options;
  const Deviation& deviation = kDeviations[run % kDeviations.size()];
  options.host_scale = *options.host_scale * (1.0 + kHostSpread * deviation.host);
  double& latency = options.machine.launch_latency_ns;
  latency += std::min(kLatencySpread, kLargestLatencySpread * latency) * deviation.latency;
  return options;
}

/// Device works of one iteration of all ranks, of the recorded one that has most. works_in(rank, i): those of one rank
/// in the i-th recorded one.
template <class WorksIn>
std::int64_t most_works(const SiteTable& sites, WorksIn works_in) {
  std::int64_t all = 0;
  for (std::size_t rank = 0; rank < sites.ranks.size(); ++rank) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < sites.ranks[rank].size(); ++i) most = std::max(most, works_in(rank, i));
    all += most;
  }
  return all;
}

std::int64_t works_of_iteration(const Plan& plan, const SiteTable& sites) {
  return most_works(sites, [&](std::size_t rank, std::size_t i) {
    std::int64_t works = 0;
    for (const Instruction& one : plan.programs[rank][i].instructions) {
      if (one.kind == Instruction::Kind::kCall) works += sites.ranks[rank][i].calls[one.call].works;
    }
    return works;
  });
}

/// What the runs of one prediction keep of an iteration with so many works. Where memory is predicted to the end of a
/// run, such runs are held beside the others.
Bytes bytes_of_iteration(std::int64_t works, int runs) {
  constexpr Bytes kBytesOfWork = 2 * (sizeof(Work) + sizeof(HostCall));
  return std::max<std::int64_t>(1, works) * kBytesOfWork * runs;
}

/// Half of the memory is left to the recording, to what is made of the runs, and to other programs.
std::optional<Bytes> memory_for_runs() {
  const std::optional<Bytes> memory = physical_memory();
  if (!memory) return std::nullopt;
  return *memory / 2;
}

/// Runs keep all that they simulate.
void require_room(const Plan& plan, const SiteTable& sites, const SimulationOptions& options, int runs) {
  const std::optional<Bytes> memory = memory_for_runs();
  if (!memory) return;
  const Bytes of_iteration = bytes_of_iteration(works_of_iteration(plan, sites), runs);
  const std::int64_t fit = *memory / of_iteration;
  if (options.iterations <= fit) return;
  throw Error(kTooManySteps, plan.schedule,
              fmt::format("{} steps would take {:.0f} GiB, more than half of this machine's memory",
                          options.iterations - options.warm_up,
                          static_cast<double>(of_iteration) * options.iterations / kGibibyte),
              fmt::format("simulate {} at most", std::max<std::int64_t>(0, fit - options.warm_up)));
}

/// Each run has a seed of its own and a place of its own: the result does not depend on how many threads there are.
std::vector<SimulationResult> simulate_often(const Plan& plan, const SiteTable& sites, const SimulationOptions& usual,
                                             int runs) {
  std::vector<SimulationResult> results(static_cast<std::size_t>(std::max(1, runs)));
  tbb::parallel_for(std::size_t{0}, results.size(),
                    [&](std::size_t run) { results[run] = simulate(plan, sites, drawn(usual, run)); });
  return results;
}

/// What is simulated of a schedule where the recording was made.
struct Ensemble {
  Plan plan;
  SimulationOptions usual;
  std::vector<SimulationResult> results;
};

Ensemble ensemble(const schedule::Schedule& schedule, const stages::Cut& cut, const SiteTable& sites,
                  const PredictOptions& options) {
  Ensemble all{compile(schedule, cut, sites), on_recorded_machine(options.simulation, sites), {}};
  assert(all.usual.warm_up >= 1);  // a step begins where the one before it ends
  assert(all.usual.iterations >= all.usual.warm_up + options.shown_steps);
  require_room(all.plan, sites, all.usual, options.runs);
  all.results = simulate_often(all.plan, sites, all.usual, options.runs);
  return all;
}

std::vector<double> single_steps_of(const std::vector<SimulationResult>& results) {
  std::vector<double> steps;
  for (const SimulationResult& one : results) steps.insert(steps.end(), one.steps_ns.begin(), one.steps_ns.end());
  return steps;
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

/// The calls of all iterations that count: the host is ahead of the device, so that what it did within the windows of
/// these on the device would begin and end somewhere within an iteration.
void add_calls(const trace::Trace& recorded, const SimulationResult& result, std::int32_t warm_up, PredictedRun& run) {
  const auto label_of = [&](std::optional<std::size_t> range) {
    return range ? std::optional(result.ranges[*range].label) : std::nullopt;
  };
  for (const HostCall& call : result.calls) {
    if (call.iteration < warm_up || !call.recorded) continue;
    const auto launched = recorded.launched_by(*call.recorded);
    const bool may_wait = launched.empty() || std::ranges::any_of(launched, [&](trace::OperationId op) {
                            return recorded.kind(op) == trace::OperationKind::kCopy;
                          });
    if (may_wait) {
      run.calls.push_back({call.rank, label_of(call.range), call.recorded, rounded(call.end_ns - call.start_ns)});
    }
  }
  for (const EventWait& wait : result.waits) {
    if (wait.waiter || wait.waited_in < warm_up) continue;
    run.calls.push_back({wait.rank, label_of(wait.range), std::nullopt, rounded(wait.resumed_ns - wait.waited_ns)});
  }
  run.iterations = static_cast<std::int32_t>(result.iteration_ends.front().size()) - warm_up;
}

PredictedRun run_of(const trace::Trace& recorded, const SimulationResult& result, std::int32_t warm_up) {
  PredictedRun run;
  add_calls(recorded, result, warm_up, run);
  run.works.reserve(result.works.size());
  for (const WorkId id : result.in_order_of_start) {
    const Work& work = result.works[id.index()];
    run.works.push_back({work.rank, work.kind, work.label, {rounded(*work.start_ns), rounded(*work.end_ns)}});
  }
  for (const std::vector<double>& ends : result.iteration_ends) {
    auto& of_rank = run.steps.emplace_back();
    for (auto i = static_cast<std::size_t>(warm_up); i + 1 < ends.size(); ++i) {
      of_rank.push_back({rounded(ends[i - 1]), rounded(ends[i])});
    }
  }
  return run;
}

PredictedRuns runs_of(const trace::Trace& recorded, const Ensemble& all) {
  PredictedRuns predicted{all.plan.labels, std::vector<PredictedRun>(all.results.size())};
  tbb::parallel_for(std::size_t{0}, all.results.size(), [&](std::size_t run) {
    predicted.runs[run] = run_of(recorded, all.results[run], all.usual.warm_up);
  });
  return predicted;
}

/// PyTorch's watchdog looks at NCCL's work this often: kWatchdogThreadSleepMillis in
/// torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp.
constexpr Nanoseconds kWatchdogInterval = 100 * kMillisecond;

/// How long it takes to see what has just ended may be anything up to that: every part of it in one of the runs, at
/// once in the last.
Nanoseconds seen_after(std::size_t run, std::size_t runs) {
  if (runs == 1) return kWatchdogInterval / 2;
  return kWatchdogInterval * static_cast<Nanoseconds>((run + 1) % runs) / static_cast<Nanoseconds>(runs);
}

/// The memory of every rank as in the first run, and what it reserves in all of them. It fits where it does in all.
std::vector<PredictedMemory> memory_of(const std::vector<memory::RecordedMemory>& recorded,
                                       const schedule::Schedule& recorded_schedule, const schedule::Schedule& schedule,
                                       const std::vector<SimulationResult>& results,
                                       const memory::MemoryReplayOptions& options) {
  std::vector<memory::Lifetimes> lifetimes;
  for (const memory::RecordedMemory& of_rank : recorded) {
    lifetimes.push_back(memory::lifetimes(of_rank, recorded_schedule, schedule));
  }
  std::vector<memory::MemoryCourse> courses(recorded.size() * results.size());
  tbb::parallel_for(std::size_t{0}, courses.size(), [&](std::size_t i) {
    const std::size_t rank = i / results.size();
    const std::size_t run = i % results.size();
    const auto play = [&](std::optional<Bytes> capacity) {
      memory::MemoryReplayOptions of_run = options;
      of_run.capacity = capacity;
      of_run.reduction_seen_after = seen_after(run, results.size());
      if (!recorded[rank].knows_first_batch) of_run.first_batch = static_cast<std::int32_t>(run);
      return predicted_memory(recorded[rank], lifetimes[rank], schedule, results[run], static_cast<std::uint32_t>(rank),
                              of_run);
    };
    courses[i] = play({});
    if (!options.capacity) return;
    const memory::MemoryCourse limited = play(options.capacity);
    courses[i].first_failure = limited.first_failure;
    courses[i].retries = limited.retries;
  });
  std::vector<PredictedMemory> memory;
  for (std::size_t rank = 0; rank < recorded.size(); ++rank) {
    const auto first = courses.begin() + static_cast<std::ptrdiff_t>(rank * results.size());
    std::vector<Bytes> reserved;
    for (const memory::MemoryCourse& course : std::span(first, results.size())) {
      reserved.push_back(course.reserved_peak);
      if (!first->first_failure) first->first_failure = course.first_failure;
      first->retries = std::max(first->retries, course.retries);
    }
    std::ranges::sort(reserved);
    memory.push_back({std::move(*first), reserved[(reserved.size() - 1) / 2], reserved.front(), reserved.back()});
  }
  return memory;
}

}  // namespace

bool Predictor::learn_memory(const schedule::Schedule& recorded, Diagnostics& diagnostics) {
  const auto has_events = [](const stages::RankCut& rank) {
    return std::ranges::all_of(rank.iterations, [](const stages::Iteration& i) { return !i.memory.empty(); });
  };
  if (!std::ranges::all_of(cut_->ranks, has_events)) return false;
  recorded_ = stages::bound_to(*cut_, recorded);
  memory_.clear();
  for (const stages::RankCut& rank : cut_->ranks) {
    memory_.push_back(memory::recorded_memory(*trace_, rank, *recorded_, cut_->frees, diagnostics));
  }
  return true;
}

Predictor::Predictor(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics)
    : Predictor(trace, cut, find_sites(trace, cut, diagnostics)) {}

Predictor::Predictor(const trace::Trace& trace, const stages::Cut& cut, SiteTable sites)
    : trace_(&trace), cut_(&cut), sites_(std::move(sites)) {}

Prediction Predictor::predict(const schedule::Schedule& schedule, const PredictOptions& options) const {
  const Ensemble all = ensemble(schedule, *cut_, sites_, options);
  const auto& [plan, usual, results] = all;
  const SimulationResult& result = results.front();
  const std::vector<double> steps = single_steps_of(results);
  std::vector<std::string> races;
  for (const Race& race : find_races(results, sites_, usual.warm_up, statistics::mean(steps))) {
    races.push_back(race.text());
  }
  const std::vector<double> single_steps = with_model_error(steps, options.model_error);

  std::vector<PredictedMemory> memory;
  if (!memory_.empty()) {
    std::vector<SimulationResult> with_end;
    if (options.run_steps) {
      SimulationOptions to_end = usual;
      const auto shown = static_cast<std::int32_t>(usual.warm_up + options.shown_steps + schedule::depth(schedule));
      to_end.batches = std::min(std::max(*options.run_steps, shown), usual.iterations);
      with_end = simulate_often(plan, sites_, to_end, options.runs);
    }
    memory = memory_of(memory_, *recorded_, stages::bound_to(*cut_, schedule), options.run_steps ? with_end : results,
                       options.memory);
  }

  const std::int32_t first = options.simulation.warm_up;
  trace::Trace predicted =
      predicted_trace(*trace_, plan, sites_, cut_->modules, result, memory,
                      {.first = first, .count = options.shown_steps, .under_recorder = options.simulation.as_recorded});
  std::vector<std::vector<Interval>> windows;
  for (const std::vector<double>& ends : result.iteration_ends) {
    auto& of_rank = windows.emplace_back();
    for (std::int32_t i = first; i < first + options.shown_steps; ++i) {
      const auto end = [&](std::int32_t k) { return rounded(ends[static_cast<std::size_t>(k)]) - predicted.origin(); };
      of_rank.push_back({end(i - 1), end(i)});
    }
  }
  std::vector<std::string> streams;
  for (const SimulatedStream& stream : plan.streams) streams.push_back(stream.name);
  return {schedule.name,
          rounded(statistics::mean(steps)),
          rounded(statistics::quantile(single_steps, 0.1)),
          rounded(statistics::quantile(single_steps, 0.9)),
          std::move(races),
          std::move(memory),
          std::move(streams),
          std::move(predicted),
          std::move(windows),
          runs_of(*trace_, all)};
}

std::size_t Predictor::fit_at_once(const PredictOptions& options) const {
  const std::optional<Bytes> memory = memory_for_runs();
  if (!memory) return 1;
  const std::int64_t works =
      most_works(sites_, [&](std::size_t rank, std::size_t i) { return std::ssize(sites_.ranks[rank][i].works); });
  const std::int64_t fit = *memory / bytes_of_iteration(works, options.runs) / options.simulation.iterations;
  return static_cast<std::size_t>(std::max<std::int64_t>(1, fit));
}

Nanoseconds Predictor::step_time(const schedule::Schedule& schedule, const PredictOptions& options) const {
  return rounded(statistics::mean(single_steps_of(ensemble(schedule, *cut_, sites_, options).results)));
}

PredictedRuns Predictor::simulate_runs(const schedule::Schedule& schedule, const PredictOptions& options) const {
  return runs_of(*trace_, ensemble(schedule, *cut_, sites_, options));
}

}  // namespace interlace::replay
