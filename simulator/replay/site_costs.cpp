#include "simulator/replay/site_costs.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "simulator/base/interval.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/contention/slowdown.hpp"

namespace interlace::replay {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

/// Work launched this long before its predecessor ended was queued in time: the gap between them is the device's own.
constexpr Nanoseconds kQueuedEarly = 20 * kMicrosecond;
constexpr Nanoseconds kLongestDispatchGap = 15 * kMicrosecond;
constexpr Nanoseconds kIdleBefore = 5 * kMicrosecond;

/// When collectives held SMs of one rank, and how many.
class CollectiveCompany {
 public:
  CollectiveCompany(const Trace& trace, trace::RankId rank) {
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      const OperationId op{i};
      if (trace.kind(op) != OperationKind::kCollective || trace.rank_of(op) != rank) continue;
      held_.push_back({{trace.start(op), trace.end(op)}, static_cast<std::int32_t>(trace.kernel(op)->blocks())});
    }
  }

  struct Beside {
    double covered_ns = 0;
    std::int32_t ctas = 0;  ///< the most at any time
  };
  [[nodiscard]] Beside beside(Interval span) const {
    Beside result;
    auto at = std::ranges::lower_bound(held_, span.begin, {}, [](const Held& h) { return h.span.begin; });
    // Collectives of one communicator do not overlap, so few can begin before the span and reach into it.
    for (int back = 0; back < 4 && at != held_.begin(); ++back) --at;
    for (; at != held_.end() && at->span.begin < span.end; ++at) {
      const Nanoseconds common = intersection(at->span, span).length();
      if (common == 0) continue;
      result.covered_ns += static_cast<double>(common);
      result.ctas = std::max(result.ctas, at->ctas);
    }
    result.covered_ns = std::min(result.covered_ns, static_cast<double>(span.length()));
    return result;
  }

 private:
  struct Held {
    Interval span;
    std::int32_t ctas;
  };
  std::vector<Held> held_;
};

struct Transfer {
  Nanoseconds last_start = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds last_end = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max();
};

/// From the last arrival to the end, a value an iteration, by collective site.
std::map<SiteId, std::vector<double>> transfers(const Trace& trace, const SiteTable& table, bool all_ranks) {
  std::map<std::pair<SiteId, std::size_t>, Transfer> by_iteration;
  for (const auto& iterations : table.ranks) {
    for (std::size_t k = 0; k < iterations.size(); ++k) {
      for (const RecordedWork& work : iterations[k].works) {
        if (table.sites[work.site.index()].kind != WorkKind::kCollective) continue;
        Transfer& t = by_iteration[{work.site, k}];
        t.last_start = std::max(t.last_start, trace.start(work.work));
        t.last_end = std::max(t.last_end, trace.end(work.work));
        t.shortest = std::min(t.shortest, trace.duration(work.work));
      }
    }
  }
  std::map<SiteId, std::vector<double>> values;
  for (const auto& [key, t] : by_iteration) {
    const Nanoseconds together = std::max<Nanoseconds>(1, t.last_end - t.last_start);
    values[key.first].push_back(static_cast<double>(all_ranks ? together : t.shortest));
  }
  return values;
}

void estimate_kernels(const Trace& trace, SiteTable& table) {
  std::vector<CollectiveCompany> company;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) company.emplace_back(trace, trace::RankId{r});

  // Kernels of one name and grid do the same work wherever they stand; on side streams, where company delays them most,
  // the luckiest of all of them tells what they cost.
  std::map<std::pair<trace::StringId, std::int64_t>, double> least;
  for (Site& site : table.sites) {
    if (site.kind == WorkKind::kCollective) continue;
    std::vector<double> freed;
    for (const OperationId op : site.instances) {
      const auto measured = static_cast<double>(trace.duration(op));
      if (site.kind == WorkKind::kHostCopy || site.kind == WorkKind::kMemset) {
        freed.push_back(measured);
        continue;
      }
      const auto beside = company[trace.rank_of(op).index()].beside({trace.start(op), trace.end(op)});
      freed.push_back(contention::freed_of_collectives(site.shape, measured, beside.covered_ns, beside.ctas));
    }
    const double lowest = *std::ranges::min_element(freed);
    const bool company_only_delays =
        site.kind == WorkKind::kKernel && (site.shape.bound == contention::Bound::kCompute || site.on_side_stream);
    site.alone_ns = company_only_delays ? lowest : statistics::median(freed);
    if (site.kind == WorkKind::kKernel) {
      const auto [known, is_new] = least.try_emplace({site.name, site.shape.blocks}, lowest);
      if (!is_new) known->second = std::min(known->second, lowest);
    }
  }
  for (Site& site : table.sites) {
    if (site.kind != WorkKind::kKernel || !site.on_side_stream) continue;
    site.alone_ns = std::min(site.alone_ns, least.at({site.name, site.shape.blocks}));
  }
}

void estimate_collectives(const Trace& trace, SiteTable& table, Diagnostics& diagnostics) {
  std::int32_t world = 0;
  for (const trace::Rank& rank : trace.ranks()) world = std::max(world, rank.world_size.value_or(0));
  const bool all_ranks = world == 0 || static_cast<std::size_t>(world) <= trace.ranks().size();
  for (const auto& [site, values] : transfers(trace, table, all_ranks)) {
    const std::vector<double>& v = values;
    table.sites[site.index()].alone_ns = all_ranks ? statistics::median(v) : *std::ranges::min_element(v);
    if (!all_ranks) diagnostics.count(kCollectiveWithoutPeers, trace.text(table.sites[site.index()].name));
  }
}

/// Gaps between queued works, and the latency of a launch on an idle stream.
void estimate_dispatch(const Trace& trace, SiteTable& table) {
  std::vector<std::vector<double>> gaps(table.sites.size());
  std::vector<double> all_gaps;
  std::vector<double> latencies;
  for (const auto& iterations : table.ranks) {
    std::map<LaneId, OperationId> before;
    for (const RecordedIteration& iteration : iterations) {
      for (const RecordedCall& call : iteration.calls) {
        for (std::uint32_t w = 0; w < call.works; ++w) {
          const RecordedWork& work = iteration.works[call.first_work + w];
          const LaneId lane = trace.lane_of(work.work);
          const Nanoseconds start = trace.start(work.work);
          const Nanoseconds called = trace.start(call.call);
          if (const auto last = before.find(lane); last != before.end()) {
            const Nanoseconds gap = start - trace.end(last->second);
            if (called + kQueuedEarly < trace.end(last->second) && gap >= 0 && gap < kLongestDispatchGap) {
              gaps[work.site.index()].push_back(static_cast<double>(gap));
              all_gaps.push_back(static_cast<double>(gap));
            } else if (trace.end(last->second) + kIdleBefore < called && !work.on_collective_stream) {
              latencies.push_back(static_cast<double>(start - called));
            }
          }
          before[lane] = work.work;
        }
      }
    }
  }
  const double usual_gap = all_gaps.empty() ? 1'500.0 : statistics::median(all_gaps);
  for (std::size_t s = 0; s < table.sites.size(); ++s) {
    table.sites[s].dispatch_gap_ns = gaps[s].empty() ? usual_gap : statistics::median(gaps[s]);
  }
  table.launch_latency_ns = latencies.size() < 8 ? 9'000.0 : statistics::quantile(latencies, 0.25);
}

Nanoseconds recorded_step(const stages::Cut& cut) {
  Nanoseconds sum = 0;
  std::int64_t steps = 0;
  for (const stages::RankCut& rank : cut.ranks) {
    for (const stages::Iteration& iteration : rank.iterations) {
      sum += iteration.host.length();
      ++steps;
    }
  }
  return steps == 0 ? 0 : sum / steps;
}

}  // namespace

void estimate_costs(const Trace& trace, const stages::Cut& cut, SiteTable& table, Diagnostics& diagnostics) {
  estimate_kernels(trace, table);
  estimate_collectives(trace, table, diagnostics);
  estimate_dispatch(trace, table);
  table.step_ns = recorded_step(cut);
}

}  // namespace interlace::replay
