#include "simulator/replay/collective_costs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "simulator/base/interval.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/replay/held_up.hpp"
#include "simulator/replay/host_copies.hpp"
#include "simulator/replay/jagged_exchanges.hpp"
#include "simulator/replay/observation.hpp"
#include "simulator/replay/site_costs.hpp"

namespace interlace::replay {

namespace {

using trace::OperationId;
using trace::Trace;

constexpr double kMostOfExchanges = 0.15;

bool is_jagged_exchange(const Site& site) {
  return site.kind == WorkKind::kCollective && site.segment.piece == stages::Piece::kTensors && site.bytes > 0;
}

contention::LostToMemory lost_to_memory(bool jagged, bool through_host) {
  if (through_host) return jagged ? contention::kLostThroughHostJagged : contention::kLostThroughHost;
  return jagged ? contention::kLostDirectJagged : contention::kLostDirect;
}

/// When any of them moved data.
IntervalSet transfers_in(const Gatherings& gatherings) {
  std::vector<Interval> spans;
  for (const auto& [id, of_site] : gatherings) {
    for (const auto& [iteration, gathering] : of_site) spans.push_back(gathering.span());
  }
  return IntervalSet(std::move(spans));
}

/// From the last arrival to the end, less what others took of it.
struct Transfers {
  std::vector<std::vector<double>> by_rank;                               ///< a value an iteration
  std::vector<std::vector<std::pair<std::size_t, double>>> by_iteration;  ///< rank and value
  WholeTransfers whole;
};

/// By how much a collective's time differs from step to step, as a part of it: on all ranks alike, since they wait for
/// each other, and on one by itself.
struct Spreads {
  double common = 0;
  double own = 0;
};

Spreads spreads_of(const Transfers& transfers, double most) {
  std::vector<double> usual;
  std::vector<double> of_ranks;
  for (const std::vector<double>& values : transfers.by_rank) {
    usual.push_back(values.empty() ? 0.0 : statistics::median(values));
    if (!values.empty()) of_ranks.push_back(spread_of(values, most));
  }
  if (of_ranks.empty()) return {};
  std::vector<double> own;
  for (const auto& parts : transfers.by_iteration) {
    if (parts.size() < 2) continue;
    std::vector<double> relative;
    for (const auto& [rank, value] : parts) relative.push_back(value / usual[rank]);
    const double mean = statistics::mean(relative);
    // The mean takes a part of each rank's own deviation along.
    const auto n = static_cast<double>(relative.size());
    for (const double value : relative) own.push_back(1.0 + (value - mean) * std::sqrt(n / (n - 1.0)));
  }
  const double all = statistics::mean(of_ranks);
  const double by_itself = own.empty() ? 0.0 : std::min(all, spread_of(own, most));
  return {.common = std::sqrt(all * all - by_itself * by_itself), .own = by_itself};
}

/// `least_ns`: less than this only where it was recorded so.
Transfers transfers_of(const GatheringsOfSite& gatherings, const SiteTable& table, const CollectivesHeldUp& held_up,
                       double least_ns) {
  Transfers transfers;
  transfers.by_rank.resize(table.ranks.size());
  for (const auto& [iteration, gathering] : gatherings) {
    auto& of_iteration = transfers.by_iteration.emplace_back();
    const auto without_losses = [&](Interval span) {
      return std::max(1.0, static_cast<double>(span.length()) - held_up.lost(span));
    };
    for (const auto& part : gathering.parts) {
      const Interval span{gathering.last_start, std::max(gathering.last_start, part.end)};
      const double least = std::min(static_cast<double>(span.length()), least_ns);
      const double value = std::max(without_losses(span), least);
      transfers.by_rank[part.rank].push_back(value);
      of_iteration.emplace_back(part.rank, value);
    }
    transfers.whole[iteration] = without_losses(gathering.span());
  }
  return transfers;
}

/// Between all ranks; that of a single rank, which sends to itself, is recorded as what it is made of.
bool is_exchange(const Site& site) {
  return site.kind == WorkKind::kCollective && (site.function == trace::CollectiveFunction::kAllToAll ||
                                                site.function == trace::CollectiveFunction::kSendRecv);
}

/// The best rate at which a pooled exchange of the recording moved a rank's bytes, in bytes a nanosecond; these are the
/// largest and mostly stand by themselves. 0 where there is none.
double pooled_bandwidth(const SiteTable& table) {
  double best = 0;
  for (const Site& site : table.sites) {
    const bool pooled =
        site.segment.stage == schedule::Stage::kOutputDistStart ||
        (site.segment.stage == schedule::Stage::kBackward && site.segment.piece == stages::Piece::kGradDist);
    if (!is_exchange(site) || !pooled || site.bytes == 0 || site.alone_ns <= 0) continue;
    best = std::max(best, static_cast<double>(site.bytes) / site.alone_ns);
  }
  return best;
}

/// How much host copies take of a collective's pace, where the recording has collectives of equal function and size
/// both with and without copies beside them.
std::optional<double> seen_lost_to_host_copies(const SiteTable& table, const Gatherings& gatherings,
                                               const HostCopies& copies) {
  constexpr std::size_t kEnough = 2;
  constexpr Bytes kLarge = 8'000'000;
  struct Times {
    std::vector<double> alone;
    std::vector<std::pair<double, double>> covered;  ///< time, and part of it beside copies
  };
  std::map<std::pair<trace::CollectiveFunction, Bytes>, Times> same;
  for (const auto& [id, of_site] : gatherings) {
    const Site& site = table.sites[id.index()];
    if (site.bytes < kLarge || is_jagged_exchange(site)) continue;
    Times& times = same[{site.function, site.bytes}];
    for (const auto& [iteration, gathering] : of_site) {
      const auto time = static_cast<double>(gathering.span().length());
      const double part = time <= 0 ? 0.0 : static_cast<double>(copies.busy.covered(gathering.span())) / time;
      if (part < 0.05) times.alone.push_back(time);
      if (part > 0.5) times.covered.emplace_back(time, part);
    }
  }
  std::vector<double> lost;
  for (const auto& [key, times] : same) {
    if (times.alone.size() < kEnough || times.covered.size() < kEnough) continue;
    const double alone = statistics::median(times.alone);
    for (const auto& [time, part] : times.covered) lost.push_back(std::clamp((1.0 - alone / time) / part, 0.0, 0.9));
  }
  if (lost.empty()) return std::nullopt;
  return statistics::median(lost);
}

/// Direct links between GPUs carry some hundreds of gigabytes a second, PCIe and host memory at most 64, so that the
/// fastest of the large collectives tells which way they go. Few channels are slow on direct links, too, but not each
/// of them: a CTA moves 29 bytes/ns there (two channels, 58), through host memory 10 to 13 (four CTAs, 40 to 53).
/// Through the host, copies and collectives slow each other down.
void find_host_path(const Trace& trace, SiteTable& table, const HostCopies& copies,
                    const contention::MachineProfile& machine) {
  constexpr Bytes kLarge = 8'000'000;
  constexpr double kFastestPcie = 64.0;   // bytes a nanosecond: generation 5, 16 lanes
  constexpr double kFastestCta = 20.0;    // bytes a nanosecond
  constexpr double kUsualCopyRate = 0.6;  // beside a collective: 0.75 to 0.8 on two ranks, 0.42 to 0.6 on four
  double fastest = 0;
  double fastest_cta = 0;
  for (const Site& site : table.sites) {
    if (site.kind != WorkKind::kCollective) continue;
    for (const OperationId op : site.instances) {
      const trace::CollectiveDetail* collective = trace.collective(op);
      if (collective == nullptr || bytes_moved(*collective) < kLarge) continue;
      const auto duration = static_cast<double>(std::max<Nanoseconds>(1, trace.duration(op)));
      const double pace = static_cast<double>(bytes_moved(*collective)) / duration;
      fastest = std::max(fastest, pace);
      fastest_cta = std::max(fastest_cta, pace / std::max(1, site.ctas));
    }
  }
  table.collectives_cross_host = fastest > 0 && fastest < kFastestPcie && fastest_cta < kFastestCta;
  if (!table.collectives_cross_host) return;
  const auto seen = seen_host_copy_costs(copies.copies);
  table.host_copy_rate = seen ? seen->alone / seen->beside : machine.host_copy_rate.value_or(kUsualCopyRate);
  if (seen) table.fitted.emplace_back("pace of host copies beside collectives");
  if (copies.copies.empty()) return;
  const double alone = seen ? seen->alone : mean_cost_alone(copies.copies, table.host_copy_rate);
  for (Site& site : table.sites) {
    if (site.kind == WorkKind::kHostCopy && site.bytes >= kLeastHostCopy) {
      site.alone_ns = std::min(site.alone_ns, static_cast<double>(site.bytes) * alone);
    }
  }
}

}  // namespace

void estimate_collectives(const Trace& trace, const Gatherings& gatherings, SiteTable& table,
                          const contention::MachineProfile& machine, Diagnostics& diagnostics) {
  std::int32_t world = 0;
  for (const trace::Rank& rank : trace.ranks()) world = std::max(world, rank.world_size.value_or(0));
  const bool all_ranks = world == 0 || static_cast<std::size_t>(world) <= trace.ranks().size();
  const HostCopies copies = host_copies(trace, table, transfers_in(gatherings));
  table.lost_to_host_copies = machine.lost_to_host_copies.value_or(contention::kLostToHostCopies);
  find_host_path(trace, table, copies, machine);
  for (Site& site : table.sites) {
    if (site.kind != WorkKind::kCollective) continue;
    site.lost = lost_to_memory(is_jagged_exchange(site), table.collectives_cross_host);
  }
  if (const auto seen = seen_lost_to_host_copies(table, gatherings, copies); seen && table.collectives_cross_host) {
    table.lost_to_host_copies = *seen;
    table.fitted.emplace_back("loss of collectives to host copies");
  }
  std::vector<RecordedExchange> equal_ones;
  for (const auto& [id, of_site] : gatherings) {
    const Site& site = table.sites[id.index()];
    if (table.collectives_cross_host || is_jagged_exchange(site)) continue;
    for (const auto& [iteration, m] : of_site) equal_ones.push_back({site.function, site.bytes, m.span(), site.lost});
  }
  const HungryKernels hungry = hungry_kernels(trace);
  const LostBeside seen_lost = learn_lost_beside(hungry, equal_ones);
  for (Site& site : table.sites) {
    if (site.kind != WorkKind::kKernel || !contention::uses_up_memory(site.shape.bound, site.alone_ns)) continue;
    if (const auto seen = seen_lost.find(site.name); seen != seen_lost.end()) site.lost_beside = seen->second;
  }
  if (!seen_lost.empty()) {
    table.fitted.push_back("pace of collectives beside " + std::to_string(seen_lost.size()) +
                           (seen_lost.size() == 1 ? " kernel" : " kernels"));
  }
  const bool cross_host = table.collectives_cross_host;
  const double to_host_copies = cross_host ? table.lost_to_host_copies : 0.0;
  const CollectivesHeldUp pooled(hungry, lost_to_memory(false, cross_host), seen_lost, copies.busy, to_host_copies);
  const CollectivesHeldUp jagged_ones(hungry, lost_to_memory(true, cross_host), seen_lost, copies.busy, to_host_copies);
  const auto estimate = [&](SiteId id, const GatheringsOfSite& of_site, const CollectivesHeldUp& held_up,
                            double least_ns) {
    Site& site = table.sites[id.index()];
    Transfers transfers = transfers_of(of_site, table, held_up, least_ns);
    if (!all_ranks) diagnostics.count(kCollectiveWithoutPeers, site.name);
    for (const std::vector<double>& values : transfers.by_rank) {
      if (values.empty()) {
        site.transfer_ns.push_back(site.alone_ns);
        continue;
      }
      // Without its peers a collective's waiting cannot be told from its transfer: the shortest one waited least.
      site.transfer_ns.push_back(all_ranks ? statistics::median(values) : *std::ranges::min_element(values));
      site.alone_ns = std::max(site.alone_ns, site.transfer_ns.back());
    }
    const Spreads spreads = spreads_of(transfers, kMostOfExchanges);
    site.spread = spreads.own;
    site.common_spread = spreads.common;
    return transfers;
  };
  for (const auto& [id, of_site] : gatherings) {
    if (!is_jagged_exchange(table.sites[id.index()])) estimate(id, of_site, pooled, 0.0);
  }
  // What a jagged one lost beside others is reckoned, and must not leave it faster than the links.
  const double bandwidth = pooled_bandwidth(table);
  std::map<SiteId, Transfers> jagged;
  for (const auto& [id, of_site] : gatherings) {
    const Site& site = table.sites[id.index()];
    if (!is_jagged_exchange(site)) continue;
    jagged.emplace(id, estimate(id, of_site, jagged_ones, least_time(site.bytes, bandwidth)));
  }
  JaggedExchanges exchanges(trace, table, bandwidth);
  for (const auto& [id, transfers] : jagged) exchanges.add(id, gatherings.at(id), transfers.whole);
  exchanges.free_crowded();
  table.uneven_parts_ns = exchanges.lost_to_uneven_parts();
}

}  // namespace interlace::replay
