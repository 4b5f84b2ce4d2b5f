#include "simulator/replay/site_costs.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/collective_costs.hpp"
#include "simulator/replay/command_queues.hpp"
#include "simulator/replay/kernel_costs.hpp"
#include "simulator/replay/meetings.hpp"
#include "simulator/replay/observation.hpp"
#include "simulator/replay/recorded_works.hpp"
#include "simulator/trace/lane_name.hpp"

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

/// What the device adds between works: seen where a work was queued in time, met an idle stream, or was held back until
/// a collective on another stream ended.
class DispatchTimes {
 public:
  explicit DispatchTimes(const Trace& trace) : trace_(&trace), collective_ends_(trace.ranks().size()) {
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
      if (work.on_collective_stream) {
        collective_gaps.push_back(static_cast<double>(gap));
      } else {
        starts.push_back({work.site, trace_->lane_of(*work.work), trace_->rank_of(*work.work), free, gap});
      }
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
  std::vector<QueuedStart> starts;  ///< but of collectives
  std::vector<double> collective_gaps;
  std::vector<double> latencies;
  std::vector<double> waits;  ///< from the end of a collective to the work that waited for it

 private:
  std::vector<std::vector<Nanoseconds>> collective_ends_;  ///< by rank
};

DispatchTimes dispatch_times(const Trace& trace, const SiteTable& table) {
  DispatchTimes times(trace);
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

/// The streams that works of the main one were recorded on.
std::map<trace::RankId, LaneId> main_lanes(const Trace& trace, const SiteTable& table) {
  std::map<trace::RankId, LaneId> lanes;
  for (const Site& site : table.sites) {
    if (site.on_side_stream || site.kind != WorkKind::kKernel) continue;
    for (const OperationId op : site.instances) lanes.try_emplace(trace.rank_of(op), trace.lane_of(op));
  }
  return lanes;
}

/// In the mean over those of its streams that show it.
std::optional<double> with_main(const Trace& trace, const Site& site, const CommandQueues& queues) {
  std::vector<double> all;
  for (const OperationId op : site.instances) {
    if (const auto seen = queues.with_main.find(trace.lane_of(op)); seen != queues.with_main.end()) {
      all.push_back(seen->second);
    }
  }
  return all.empty() ? std::nullopt : std::optional(statistics::mean(all));
}

/// Streams of one name are one.
std::vector<SharedQueue> shared_queues(const Trace& trace, const SiteTable& table, const CommandQueues& queues) {
  std::map<std::string, double> late_ns;
  for (const auto& [lane, late] : queues.late_ns) late_ns[trace::lane_name(trace, lane)] += late;
  std::size_t steps = 0;
  for (const auto& iterations : table.ranks) steps += iterations.size();
  std::vector<SharedQueue> shared;
  for (const auto& [stream, late] : late_ns) shared.push_back({stream, late / static_cast<double>(steps)});
  return shared;
}

/// Gaps between queued works, and the latencies of a launch on an idle stream and of a wait.
void estimate_dispatch(const Trace& trace, SiteTable& table, const contention::MachineProfile& machine) {
  constexpr std::size_t kEnough = 8;
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
  table.fetch_delays = {machine.fetch_beside_work_ns.value_or(kFetchBesideWork),
                        machine.fetch_beside_copies_ns.value_or(kFetchBesideCopies)};
  const CommandQueues queues = command_queues(trace, table, times.starts, main_lanes(trace, table));
  table.shared_queues = shared_queues(trace, table, queues);
  std::vector<double> all_gaps;
  std::vector<std::vector<double>> gaps(table.sites.size());
  for (std::size_t i = 0; i < times.starts.size(); ++i) {
    if (!queues.undelayed[i]) continue;
    all_gaps.push_back(static_cast<double>(times.starts[i].gap));
    gaps[times.starts[i].site.index()].push_back(all_gaps.back());
  }
  const double usual_gap = middle(all_gaps, machine.dispatch_gap_ns.value_or(kUsualDispatchGap));
  table.wait_latency_ns = quick(times.waits, machine.wait_latency_ns.value_or(kUsualWait));
  const double collective_gap = quick(times.collective_gaps, kUsualCollectiveGap);
  for (std::size_t s = 0; s < table.sites.size(); ++s) {
    Site& site = table.sites[s];
    // On side streams the gap shows when blocks of the kernel beside it retired, not what the device needs.
    const bool unclear = gaps[s].empty() || site.on_side_stream;
    site.dispatch_gap_ns = unclear ? usual_gap : statistics::median(gaps[s]);
    site.with_main = with_main(trace, site, queues);
    if (site.kind == WorkKind::kCollective) site.dispatch_gap_ns = collective_gap;
  }
  // The recorder lengthens recorded launches, but not those of a profile.
  table.launch_latency_ns = machine.launch_latency_ns.value_or(quick(times.latencies, kUsualLatency));
  const auto say = [&](const char* what, bool seen) {
    if (seen) table.fitted.emplace_back(what);
  };
  say("gap between works", all_gaps.size() >= kEnough);
  say("wait latency", times.waits.size() >= kEnough);
  say("launch latency", times.latencies.size() >= kEnough && !machine.launch_latency_ns);
}

}  // namespace

void estimate_costs(const Trace& trace, SiteTable& table, Diagnostics& diagnostics,
                    const contention::MachineProfile& machine) {
  const Gatherings gatherings = gatherings_in(trace, table);
  estimate_kernels(trace, gatherings, table, machine, diagnostics);
  estimate_collectives(trace, gatherings, table, machine, diagnostics);
  estimate_dispatch(trace, table, machine);
  learn_races(trace, table);
}

}  // namespace interlace::replay
