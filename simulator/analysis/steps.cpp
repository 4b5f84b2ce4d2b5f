#include "simulator/analysis/steps.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace interlace::analysis {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::RankId;

constexpr std::string_view kProfilerStep = "ProfilerStep";
/// Around all stages that the engine runs in one round.
constexpr std::string_view kIteration = "iteration";

bool holds_a_step(std::string_view label) { return label == kProfilerStep || label == kIteration; }

/// PyTorch wraps each call of step() in one of its own, named after the class: "Optimizer.step#Adam.step"; the engine
/// and predicted traces name it as schedules do.
bool is_optimizer(std::string_view label) {
  return is_stage(label, "optimizer") || is_stage(label, "optimizer_step") || label.starts_with("Optimizer.step#");
}

/// One label among the outermost annotations of a thread.
struct Candidate {
  std::vector<OperationId> instances;              // by start
  std::vector<std::optional<Interval>> on_device;  // an instance: from the first start to the last end of its work
  Nanoseconds kernel_time = 0;                     // of the kernels launched in it
};

using Candidates = std::map<std::string_view, Candidate>;

/// Outermost annotations of a rank's main thread by label. A range that holds a step does not count as one around
/// others.
Candidates candidates_of(const trace::Trace& trace, const Annotations& annotations, LaneId main) {
  Candidates candidates;
  for (const OperationId op : trace.on_lane(main)) {
    const auto* range = trace.range(op);
    if (trace.kind(op) != trace::OperationKind::kRange || range->kind != trace::RangeKind::kAnnotation) continue;
    const auto around = annotations.innermost(op);
    if (around && !holds_a_step(stage_label(trace.name(*around)).stage)) continue;
    Candidate& candidate = candidates[stage_label(trace.name(op)).stage];
    candidate.instances.push_back(op);
    candidate.on_device.emplace_back();
  }
  return candidates;
}

struct LaunchedWork {
  Nanoseconds launch = 0;  // start of the call
  OperationId op;
};

/// Device work whose launch is known: by rank, in the order of the launches.
std::vector<std::vector<LaunchedWork>> launched_work(const trace::Trace& trace) {
  std::vector<std::vector<LaunchedWork>> by_rank(trace.ranks().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (!trace::is_device_work(trace.kind(op))) continue;
    if (const auto launch = trace.launch_of(op))
      by_rank[trace.rank_of(op).index()].push_back({trace.start(*launch), op});
  }
  for (auto& of_rank : by_rank) std::ranges::sort(of_rank, {}, &LaunchedWork::launch);
  return by_rank;
}

/// Charges device work to the instance of the candidate whose time its launch falls into, on any thread of the rank: to
/// the one that began last. What is launched in one stands in a row, so that all candidates of a rank together take
/// little more time than there is work.
void charge_device_work(const trace::Trace& trace, const std::vector<LaunchedWork>& works, Candidate& candidate) {
  for (std::size_t i = 0; i < candidate.instances.size(); ++i) {
    const OperationId instance = candidate.instances[i];
    Nanoseconds end = trace.end(instance);
    if (i + 1 < candidate.instances.size()) end = std::min(end, trace.start(candidate.instances[i + 1]));
    auto work = std::ranges::lower_bound(works, trace.start(instance), {}, &LaunchedWork::launch);
    for (; work != works.end() && work->launch < end; ++work) {
      const OperationId op = work->op;
      if (trace.kind(op) == trace::OperationKind::kKernel) candidate.kernel_time += trace.duration(op);
      auto& span = candidate.on_device[i];
      if (!span) span = {trace.start(op), trace.end(op)};
      *span = {std::min(span->begin, trace.start(op)), std::max(span->end, trace.end(op))};
    }
  }
}

/// How often the optimizer runs; 0 where no annotation says. Microbatches repeat within a step, the optimizer does not,
/// unless a program has several of one class. One that runs once beside others that repeat (at the end of an epoch,
/// say) ends no steps.
std::size_t optimizer_count(const Candidates& candidates) {
  std::size_t least = 0;
  for (const auto& [label, candidate] : candidates) {
    const std::size_t count = candidate.instances.size();
    if (is_optimizer(label) && (least <= 1 || (count > 1 && count < least))) least = count;
  }
  return least;
}

/// How often the candidates come that come more than once; the larger number where two are as usual.
std::size_t usual_count(const Candidates& candidates) {
  std::map<std::size_t, int> votes;
  for (const auto& [label, candidate] : candidates) {
    if (candidate.instances.size() > 1) ++votes[candidate.instances.size()];
  }
  std::size_t usual = 0;
  for (const auto& [count, number] : votes) {
    if (usual == 0 || number >= votes[usual]) usual = count;
  }
  return usual;
}

FoundSteps steps_from(const trace::Trace& trace, std::string_view label, const Candidate& candidate,
                      StepEvidence evidence) {
  FoundSteps steps{.marker = std::string(label),
                   .evidence = evidence,
                   .ended_by = std::string(label),
                   .host = {},
                   .device = {},
                   .device_end = {}};
  const bool all_on_device =
      std::ranges::all_of(candidate.on_device, [](const auto& span) { return span.has_value(); });
  for (std::size_t i = 0; i < candidate.instances.size(); ++i) {
    steps.host.push_back(trace.start(candidate.instances[i]));
    if (!all_on_device) continue;
    steps.device.push_back(candidate.on_device[i]->begin);
    steps.device_end.push_back(candidate.on_device[i]->end);
  }
  std::ranges::sort(steps.device);
  std::ranges::sort(steps.device_end);
  return steps;
}

/// The candidate that is a step by its name, one that repeats before one that does not.
Candidates::iterator named_step(Candidates& candidates) {
  auto once = candidates.end();
  for (const std::string_view label : {kProfilerStep, kIteration}) {
    const auto named = candidates.find(label);
    if (named == candidates.end()) continue;
    if (named->second.instances.size() > 1) return named;
    if (once == candidates.end()) once = named;
  }
  return once;
}

/// The one that launches the most kernel time of those that come so often; none where none does. Charges them all.
const Candidates::value_type* heaviest(const trace::Trace& trace, const std::vector<LaunchedWork>& works,
                                       Candidates& candidates, std::size_t count) {
  const Candidates::value_type* best = nullptr;
  for (auto& entry : candidates) {
    if (entry.second.instances.size() != count || holds_a_step(entry.first)) continue;
    charge_device_work(trace, works, entry.second);
    if (best == nullptr || entry.second.kernel_time > best->second.kernel_time) best = &entry;
  }
  return best;
}

/// Steps known by name end on the device with what launches the better part of their kernels, if one annotation does.
FoundSteps named_steps(const trace::Trace& trace, const std::vector<LaunchedWork>& works, Candidates& candidates,
                       Candidates::iterator named) {
  charge_device_work(trace, works, named->second);
  FoundSteps steps = steps_from(trace, named->first, named->second, StepEvidence::kName);
  const auto* within = heaviest(trace, works, candidates, steps.count());
  if (within == nullptr || within->second.kernel_time <= named->second.kernel_time / 2) return steps;
  FoundSteps ends = steps_from(trace, within->first, within->second, StepEvidence::kName);
  if (steps.device_end.empty() || ends.device_end.empty()) return steps;
  steps.ended_by = std::move(ends.marker);
  steps.device_end = std::move(ends.device_end);
  return steps;
}

std::optional<FoundSteps> steps_of_rank(const trace::Trace& trace, const Annotations& annotations, RankId rank,
                                        const std::vector<LaunchedWork>& works) {
  const auto main = annotations.main_thread(rank);
  if (!main) return std::nullopt;
  auto candidates = candidates_of(trace, annotations, *main);
  if (const auto named = named_step(candidates); named != candidates.end()) {
    return named_steps(trace, works, candidates, named);
  }
  const std::size_t by_optimizer = optimizer_count(candidates);
  const std::size_t count = by_optimizer > 0 ? by_optimizer : usual_count(candidates);
  if (count == 0) return std::nullopt;
  const auto* best = heaviest(trace, works, candidates, count);
  return steps_from(trace, best->first, best->second,
                    by_optimizer > 0 ? StepEvidence::kOptimizer : StepEvidence::kUsualCount);
}

/// How many of its first steps a host is faster than the device of its rank: by more than steps differ from each other.
std::size_t steps_getting_ahead(const std::vector<Interval>& host, const StepWindow& device) {
  constexpr double kKeepsPace = 0.95;  // 0.59 to 0.94 where it gets ahead in recordings at hand, else 0.96 and more
  const double pace = static_cast<double>(device.span.length()) / static_cast<double>(device.steps);
  const auto keeps_pace = [&](const Interval& step) { return static_cast<double>(step.length()) >= kKeepsPace * pace; };
  return static_cast<std::size_t>(std::ranges::find_if(host, keeps_pace) - host.begin());
}

}  // namespace

std::string_view to_string(StepEvidence evidence) {
  switch (evidence) {
    case StepEvidence::kName: return "name";
    case StepEvidence::kOptimizer: return "optimizer";
    case StepEvidence::kUsualCount: return "usual_count";
  }
  return "unknown";
}

std::vector<Interval> FoundSteps::on_host() const { return steps_between(host); }
std::vector<Interval> FoundSteps::on_device() const { return steps_between(device_end); }
std::vector<Interval> FoundSteps::spans() const { return device_end.empty() ? on_host() : on_device(); }

std::vector<std::optional<FoundSteps>> find_steps(const trace::Trace& trace, const Annotations& annotations) {
  const std::vector<std::vector<LaunchedWork>> works = launched_work(trace);
  std::vector<std::optional<FoundSteps>> steps;
  for (std::uint32_t rank = 0; rank < trace.ranks().size(); ++rank) {
    steps.push_back(steps_of_rank(trace, annotations, {rank}, works[rank]));
  }
  return steps;
}

std::vector<std::optional<FoundSteps>> steps_marked_by(const trace::Trace& trace, const Annotations& annotations,
                                                       std::string_view label) {
  const std::vector<std::vector<LaunchedWork>> works = launched_work(trace);
  std::vector<std::optional<FoundSteps>> steps(trace.ranks().size());
  for (std::uint32_t rank = 0; rank < steps.size(); ++rank) {
    const auto main = annotations.main_thread({rank});
    if (!main) continue;
    auto candidates = candidates_of(trace, annotations, *main);
    const auto found = candidates.find(label);
    if (found == candidates.end()) continue;
    charge_device_work(trace, works[rank], found->second);
    steps[rank] = steps_from(trace, label, found->second, StepEvidence::kName);
  }
  return steps;
}

std::vector<std::optional<FoundSteps>> steps_ended_by(const trace::Trace& trace, const Annotations& annotations,
                                                      std::optional<std::string_view> optimizer) {
  if (!optimizer) return find_steps(trace, annotations);
  auto steps = steps_marked_by(trace, annotations, *optimizer);
  const auto known = [](const auto& of_rank) { return of_rank && of_rank->device_end.size() > 1; };
  return std::ranges::all_of(steps, known) ? std::move(steps) : find_steps(trace, annotations);
}

StepWindows windows_of(const trace::Trace& trace, const std::vector<std::optional<FoundSteps>>& steps) {
  std::vector<std::size_t> ranks;
  std::vector<std::vector<Interval>> host;
  std::vector<std::vector<Interval>> device;
  for (std::size_t rank = 0; rank < steps.size(); ++rank) {
    if (!has_whole_step(steps[rank])) continue;
    ranks.push_back(rank);
    host.push_back(steps[rank]->on_host());
    device.push_back(steps[rank]->spans());
  }
  StepWindows windows{.host = whole_trace(trace), .device = whole_trace(trace)};
  const std::vector<StepWindow> on_device = steady_windows_of(device);
  std::size_t ahead = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!steps[ranks[i]]->device_end.empty()) ahead = std::max(ahead, steps_getting_ahead(host[i], on_device[i]));
  }
  windows.host_ahead = std::ranges::any_of(host, [&](const auto& of_rank) { return of_rank.size() <= ahead; });
  if (!windows.host_ahead) {
    for (auto& of_rank : host) of_rank.erase(of_rank.begin(), of_rank.begin() + static_cast<std::ptrdiff_t>(ahead));
  }
  const std::vector<StepWindow> on_host = steady_windows_of(host);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    windows.host[ranks[i]] = on_host[i];
    windows.device[ranks[i]] = on_device[i];
  }
  return windows;
}

}  // namespace interlace::analysis
