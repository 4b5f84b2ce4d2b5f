#include "simulator/replay/site_costs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "simulator/base/statistics.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/replay/collective_costs.hpp"
#include "simulator/replay/meetings.hpp"
#include "simulator/replay/observation.hpp"

namespace interlace::replay {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

constexpr Nanoseconds kLongestDispatchGap = 15 * kMicrosecond;
constexpr Nanoseconds kIdleBefore = 5 * kMicrosecond;
/// A stream that stood still for longer, with work queued, waited for another one.
constexpr Nanoseconds kHeldBack = 30 * kMicrosecond;

/// How strongly collectives slow this kernel: what the recording itself shows where it has the kernel both alone and
/// covered at least twice each; none where it has not.
std::optional<double> sensitivity_of(const std::vector<Observation>& observations) {
  std::vector<double> alone;
  for (const Observation& o : observations) {
    if (o.covered_ns <= 0.02 * o.measured_ns) alone.push_back(o.measured_ns);
  }
  std::vector<double> seen;
  if (alone.size() >= 2) {
    const double by_itself = statistics::median(alone);
    for (const Observation& o : observations) {
      if (o.covered_ns < 0.5 * o.measured_ns || o.ctas <= 1) continue;
      seen.push_back(contention::observed_sensitivity(by_itself, o.measured_ns, o.covered_ns, o.ctas));
    }
  }
  constexpr double kStrongest = 1.0;
  if (seen.size() < 2) return std::nullopt;
  return std::min(kStrongest, statistics::median(seen));
}

double usual_sensitivity(contention::Bound bound, const contention::MachineProfile& machine) {
  const auto& known = bound == contention::Bound::kGather ? machine.gather_sensitivity : machine.streaming_sensitivity;
  return known.value_or(contention::usual_sensitivity(bound));
}

/// What a kernel of the main stream takes, by its observations freed of collectives. Other kernels beside it only ever
/// delay: the lower half of the observations is the cleaner one, and those without such company are cleaner still.
double undelayed(const std::vector<Observation>& observations, const std::vector<double>& freed) {
  constexpr std::size_t kEnough = 2;
  const std::vector<double> by_itself = times_by_itself(observations, freed);
  const double lower_half = statistics::quantile(freed, 0.4);
  const bool is_seen = by_itself.size() >= kEnough && by_itself.size() < freed.size();
  return is_seen ? std::min(lower_half, statistics::median(by_itself)) : lower_half;
}

/// What kernels of side streams take, where company delays them most. Those of one name and grid mostly do the same
/// work wherever they stand, so that the luckiest of them tells what one costs that never ran by itself.
class LuckiestKernels {
 public:
  /// lowest: of its observations; by_itself: whether one of them had no kernel of another stream beside it.
  void see(const Site& site, double lowest, bool by_itself) {
    const auto [known, is_new] = least_.try_emplace({site.name, site.shape.blocks}, lowest);
    if (!is_new) known->second = std::min(known->second, lowest);
    if (by_itself) by_itself_.insert(&site);
  }

  /// From the shortest time of the site's own, alone_ns.
  [[nodiscard]] double undelayed(const Site& site) const {
    // A grid that is made for the GPU does not tell how much there is to do.
    if (by_itself_.contains(&site) || site.shape.blocks % site.shape.sm_count == 0) return site.alone_ns;
    const double least = least_.at({site.name, site.shape.blocks});
    return site.alone_ns > kSameWork * least ? site.alone_ns : least;
  }

 private:
  /// Where shortest times differ by more, so does the work: company hardly ever delays all instances as much.
  static constexpr double kSameWork = 1.2;

  std::map<std::pair<std::string, std::int64_t>, double> least_;
  std::set<const Site*> by_itself_;
};

void estimate_kernels(const Trace& trace, const std::vector<CollectiveCompany>& company, SiteTable& table,
                      const contention::MachineProfile& machine) {
  std::vector<KernelCompany> kernels;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) kernels.emplace_back(trace, trace::RankId{r});

  LuckiestKernels luckiest;
  int sensitive = 0;
  int seen_sensitive = 0;
  for (Site& site : table.sites) {
    if (site.kind == WorkKind::kCollective) continue;
    std::vector<Observation> observations;
    for (const OperationId op : site.instances) {
      const std::size_t rank = trace.rank_of(op).index();
      observations.push_back(observe(trace, op, company[rank]));
      observations.back().beside_kernels = site.kind == WorkKind::kKernel && kernels[rank].has(op);
    }
    const bool shares_sms = site.kind == WorkKind::kKernel || site.kind == WorkKind::kDeviceCopy;
    const auto seen = sensitivity_of(observations);
    site.sensitivity = seen.value_or(usual_sensitivity(site.shape.bound, machine));
    const bool counts = site.kind == WorkKind::kKernel && site.shape.bound != contention::Bound::kCompute;
    sensitive += counts ? 1 : 0;
    seen_sensitive += counts && seen ? 1 : 0;
    std::vector<double> freed;
    for (const Observation& o : observations) {
      freed.push_back(shares_sms ? contention::freed_of_collectives(site.shape, site.sensitivity, o.measured_ns, o.held)
                                 : o.measured_ns);
    }
    const double lowest = shortest_time(observations, freed);
    if (site.kind == WorkKind::kKernel && site.on_side_stream) {
      site.alone_ns = lowest;
    } else {
      site.alone_ns = site.kind == WorkKind::kKernel ? undelayed(observations, freed) : statistics::median(freed);
    }
    site.spread = spread_of(freed, 0.03);
    if (site.kind == WorkKind::kKernel) {
      const bool by_itself = std::ranges::any_of(observations, [](const Observation& o) { return !o.beside_kernels; });
      luckiest.see(site, lowest, by_itself);
    }
  }
  for (Site& site : table.sites) {
    if (site.kind == WorkKind::kKernel && site.on_side_stream) site.alone_ns = luckiest.undelayed(site);
  }
  if (seen_sensitive > 0) {
    table.fitted.push_back("sensitivity of " + std::to_string(seen_sensitive) + " of " + std::to_string(sensitive) +
                           " kernels to collectives");
  }
}

/// What the device adds between works: seen where a work was queued in time, met an idle stream, or was held back until
/// a collective on another stream ended.
class DispatchTimes {
 public:
  DispatchTimes(const Trace& trace, std::size_t sites)
      : trace_(&trace), gaps(sites), collective_ends_(trace.ranks().size()) {
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const OperationId op{i};
      if (trace.kind(op) == OperationKind::kCollective) {
        collective_ends_[trace.rank_of(op).index()].push_back(trace.end(op));
      }
    }
    for (std::vector<Nanoseconds>& ends : collective_ends_) std::ranges::sort(ends);
  }

  void see(OperationId call, const RecordedWork& work, OperationId before) {
    const Nanoseconds start = trace_->start(*work.work);
    const Nanoseconds called = trace_->start(call);
    const Nanoseconds free = trace_->end(before);
    const Nanoseconds gap = start - free;
    if (called + kQueuedEarly < free && gap >= 0 && gap < kLongestDispatchGap) {
      gaps[work.site.index()].push_back(static_cast<double>(gap));
      (work.on_collective_stream ? collective_gaps : all_gaps).push_back(static_cast<double>(gap));
    } else if (free + kIdleBefore < called && !work.on_collective_stream) {
      latencies.push_back(static_cast<double>(start - called));
    } else if (called + kQueuedEarly < start && gap > kHeldBack && !work.on_collective_stream) {
      see_wait(trace_->rank_of(*work.work), start);
    }
  }

 private:
  void see_wait(trace::RankId rank, Nanoseconds start) {
    const std::vector<Nanoseconds>& ends = collective_ends_[rank.index()];
    const auto after = std::ranges::upper_bound(ends, start);
    if (after == ends.begin() || start - *std::prev(after) >= kLongestDispatchGap) return;
    waits.push_back(static_cast<double>(start - *std::prev(after)));
  }

  const Trace* trace_;

 public:
  std::vector<std::vector<double>> gaps;  ///< by site
  std::vector<double> all_gaps;           ///< but those before collectives
  std::vector<double> collective_gaps;
  std::vector<double> latencies;
  std::vector<double> waits;  ///< from the end of a collective to the work that waited for it

 private:
  std::vector<std::vector<Nanoseconds>> collective_ends_;  ///< by rank
};

template <class Visit>
void for_each_work(const RecordedIteration& iteration, Visit visit) {
  for (const RecordedCall& call : iteration.calls) {
    for (std::uint32_t w = 0; w < call.works; ++w) visit(call, iteration.works[call.first_work + w]);
  }
}

DispatchTimes dispatch_times(const Trace& trace, const SiteTable& table) {
  DispatchTimes times(trace, table.sites.size());
  for (const auto& iterations : table.ranks) {
    std::map<LaneId, OperationId> before;
    const auto see = [&](const RecordedCall& call, const RecordedWork& work) {
      const LaneId lane = trace.lane_of(*work.work);
      if (const auto last = before.find(lane); last != before.end()) times.see(*call.call, work, last->second);
      before[lane] = *work.work;
    };
    for (const RecordedIteration& iteration : iterations) for_each_work(iteration, see);
  }
  return times;
}

/// Gaps between queued works, and the latencies of a launch on an idle stream and of a wait.
void estimate_dispatch(const Trace& trace, SiteTable& table, const contention::MachineProfile& machine) {
  constexpr std::size_t kEnough = 8;
  constexpr double kUsualGap = 1'500.0;
  constexpr double kUsualCollectiveGap = 1'800.0;
  constexpr double kUsualLatency = 9'000.0;
  constexpr double kUsualWait = 1'500.0;
  const DispatchTimes times = dispatch_times(trace, table);
  const auto middle = [](const std::vector<double>& seen, double otherwise) {
    return seen.size() < kEnough ? otherwise : statistics::median(seen);
  };
  // What something held up besides counts for nothing: the quick ones tell.
  const auto quick = [](const std::vector<double>& seen, double otherwise) {
    return seen.size() < kEnough ? otherwise : statistics::quantile(seen, 0.25);
  };
  const double usual_gap = middle(times.all_gaps, machine.dispatch_gap_ns.value_or(kUsualGap));
  table.wait_latency_ns = quick(times.waits, machine.wait_latency_ns.value_or(kUsualWait));
  const double collective_gap = quick(times.collective_gaps, kUsualCollectiveGap);
  for (std::size_t s = 0; s < table.sites.size(); ++s) {
    Site& site = table.sites[s];
    // On side streams the gap shows when blocks of the kernel beside it retired, not what the device needs.
    const bool unclear = times.gaps[s].empty() || site.on_side_stream;
    site.dispatch_gap_ns = unclear ? usual_gap : statistics::median(times.gaps[s]);
    if (site.kind == WorkKind::kCollective) site.dispatch_gap_ns = collective_gap;
  }
  // The recorder lengthens recorded launches, but not those of a profile.
  table.launch_latency_ns = machine.launch_latency_ns.value_or(quick(times.latencies, kUsualLatency));
  const auto say = [&](const char* what, bool seen) {
    if (seen) table.fitted.emplace_back(what);
  };
  say("gap between works", times.all_gaps.size() >= kEnough);
  say("wait latency", times.waits.size() >= kEnough);
  say("launch latency", times.latencies.size() >= kEnough && !machine.launch_latency_ns);
}

}  // namespace

void estimate_costs(const Trace& trace, SiteTable& table, Diagnostics& diagnostics,
                    const contention::MachineProfile& machine) {
  const std::vector<CollectiveCompany> company = collective_company(trace);
  estimate_kernels(trace, company, table, machine);
  estimate_collectives(trace, table, machine, diagnostics);
  estimate_dispatch(trace, table, machine);
  learn_races(trace, table);
}

}  // namespace interlace::replay
