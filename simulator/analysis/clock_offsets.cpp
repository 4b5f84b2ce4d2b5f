#include "simulator/analysis/clock_offsets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "simulator/graph/streams_of_rank.hpp"
#include "simulator/trace/clock_tolerance.hpp"

namespace interlace::analysis {

namespace {

using trace::OperationId;

/// Which runs of collectives belong together over the ranks: kernel, process group, and which stream of the rank.
using Kind = std::tuple<trace::StringId, std::string, std::size_t>;
using Runs = std::map<Kind, std::vector<OperationId>>;

/// Whether all ranks have to begin before any can end. Names are NCCL's where the function is not recorded.
bool waits_for_all(const trace::Trace& trace, OperationId op) {
  if (const trace::CollectiveDetail* detail = trace.collective(op)) {
    using enum trace::CollectiveFunction;
    switch (detail->function) {
      case kAllReduce:
      case kAllGather:
      case kReduceScatter:
      case kAllToAll:
      case kBarrier: return true;
      case kUnknown: break;
      default: return false;
    }
  }
  const std::string_view name = trace.name(op);
  return name.find("AllReduce") != std::string_view::npos || name.find("AllGather") != std::string_view::npos ||
         name.find("ReduceScatter") != std::string_view::npos;
}

/// Without the groups that share their name with others: only times tell whose collectives belong together there, and
/// these are still to be compared.
Runs runs_of(const trace::Trace& trace, const graph::ProcessGroups& groups, trace::RankId rank) {
  Runs runs;
  std::map<std::pair<trace::StringId, std::string>, std::size_t> streams;
  for (const trace::LaneId lane : graph::streams_of_rank(trace, rank)) {
    std::map<std::pair<trace::StringId, std::string>, std::vector<OperationId>> here;
    for (const OperationId op : trace.on_lane(lane)) {
      const auto of = groups.of(op);
      if (!of || groups.all()[*of].shares_its_name || !waits_for_all(trace, op)) continue;
      const trace::CollectiveDetail* detail = trace.collective(op);
      const std::string group = detail == nullptr ? std::string() : std::string(trace.text(detail->group));
      here[{trace.names()[op.index()], group}].push_back(op);
    }
    for (auto& [key, works] : here) {
      const std::size_t stream = streams[key]++;
      runs.emplace(Kind{key.first, key.second, stream}, std::move(works));
    }
  }
  return runs;
}

/// What is to be added to times there to compare them with times here.
struct Bounds {
  Nanoseconds least = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds most = std::numeric_limits<Nanoseconds>::max();
  std::int64_t collectives = 0;

  void narrow(const trace::Trace& trace, const Runs& here, const Runs& there) {
    for (const auto& [kind, mine] : here) {
      const auto other = there.find(kind);
      if (other == there.end() || other->second.size() != mine.size()) continue;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        least = std::max(least, trace.start(mine[i]) - trace.end(other->second[i]));
        most = std::min(most, trace.end(mine[i]) - trace.start(other->second[i]));
        ++collectives;
      }
    }
  }
};

/// Whether all that both recorded can have happened at the times of one clock.
bool fit_one_clock(const trace::Trace& trace, const Runs& here, const Runs& there) {
  Bounds bounds;
  bounds.narrow(trace, here, there);
  return bounds.least <= trace::kClockTolerance && bounds.most >= -trace::kClockTolerance;
}

std::vector<HostClock> hosts_of(const trace::Trace& trace, const std::vector<Runs>& of_ranks) {
  std::vector<HostClock> hosts;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) {
    const trace::Rank& rank = trace.ranks()[r];
    const auto is_mine = [&](const HostClock& host) {
      if (!rank.host_name.empty()) return host.host == rank.host_name;
      return fit_one_clock(trace, of_ranks[host.ranks.front().index()], of_ranks[r]);
    };
    auto host = std::ranges::find_if(hosts, is_mine);
    if (host == hosts.end()) {
      const bool is_told = !rank.host_name.empty() || hosts.empty();
      host =
          hosts.insert(host, HostClock{.host = is_told ? rank.host_name : fmt::format("that of rank {}", rank.number)});
    }
    host->ranks.push_back({r});
  }
  return hosts;
}

}  // namespace

std::vector<HostClock> host_clocks(const trace::Trace& trace, const graph::ProcessGroups& groups) {
  std::vector<Runs> of_ranks;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) of_ranks.push_back(runs_of(trace, groups, {r}));
  std::vector<HostClock> hosts = hosts_of(trace, of_ranks);
  for (HostClock& host : hosts) {
    if (&host == &hosts.front()) continue;
    Bounds bounds;
    for (const trace::RankId rank : host.ranks) {
      for (const trace::RankId first : hosts.front().ranks) {
        bounds.narrow(trace, of_ranks[first.index()], of_ranks[rank.index()]);
      }
    }
    host.collectives = bounds.collectives;
    if (bounds.collectives == 0) continue;
    host.is_steady = bounds.least <= bounds.most;
    host.offset = bounds.least + (bounds.most - bounds.least) / 2;
    host.residual = (host.is_steady ? bounds.most - bounds.least : bounds.least - bounds.most) / 2;
  }
  return hosts;
}

void count_differing_clocks(const trace::Trace& trace, const graph::ProcessGroups& groups, Diagnostics& diagnostics) {
  if (trace.ranks().size() < 2) return;
  for (const HostClock& host : host_clocks(trace, groups)) {
    const bool fits = host.is_steady && std::abs(host.offset) <= host.residual + trace::kClockTolerance;
    if (fits) continue;
    diagnostics.count(kClocksDiffer,
                      fmt::format("rank {} by about {:.1f} us", trace.ranks()[host.ranks.front().index()].number,
                                  static_cast<double>(std::abs(host.offset)) / kMicrosecond),
                      static_cast<std::int64_t>(host.ranks.size()));
  }
}

}  // namespace interlace::analysis
