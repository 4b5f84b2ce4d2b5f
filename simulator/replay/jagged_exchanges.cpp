#include "simulator/replay/jagged_exchanges.hpp"

#include <algorithm>
#include <utility>

#include "simulator/base/statistics.hpp"

namespace interlace::replay {

namespace {

using trace::OperationId;
using trace::OperationKind;
using trace::Trace;

/// Ns: those of 112 and 224 bytes take 4 to 10 us (t2, t7, n6).
constexpr double kLeastStartup = 8'000.0;
/// Of what an exchange takes besides its bytes, at most (ns): shorter ones tell nothing of a bandwidth.
constexpr double kStartup = 50'000.0;

// On two H200s joined by NV18, of 2 to 32 CTAs and 128 MiB or more (docs/benchmarks/placement, 12). Uneven parts go at
// a pace of their own: that of a CTA, or of all 32.
constexpr double kUnevenPart = 0.41;     // of the pace of two ranks whose parts are even
constexpr double kUnevenCta = 12.0;      // bytes a nanosecond
constexpr double kOwnUnevenPart = 0.87;  // the same where only what stays on the rank is uneven
constexpr double kOwnUnevenCta = 18.4;

std::vector<IntervalSet> kernel_time(const Trace& trace) {
  std::vector<std::vector<Interval>> busy(trace.ranks().size());
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (trace.kind(op) == OperationKind::kKernel)
      busy[trace.rank_of(op).index()].push_back({trace.start(op), trace.end(op)});
  }
  std::vector<IntervalSet> result;
  for (auto& of_rank : busy) result.emplace_back(std::move(of_rank));
  return result;
}

/// `crowded_rate`: its pace beside kernels, as a part of that by itself.
void set_alone(Site& site, double alone_ns, double crowded_rate) {
  for (double& t : site.transfer_ns) t *= alone_ns / site.alone_ns;
  site.alone_ns = alone_ns;
  site.crowded_rate = crowded_rate;
}

}  // namespace

double least_time(Bytes bytes, double pooled_bandwidth) {
  return pooled_bandwidth > 0 ? static_cast<double>(bytes) / pooled_bandwidth + kLeastStartup : 0.0;
}

JaggedExchanges::JaggedExchanges(const Trace& trace, SiteTable& table, double pooled_bandwidth)
    : trace_(&trace), table_(&table), kernels_(kernel_time(trace)), pooled_(pooled_bandwidth) {}

void JaggedExchanges::add(SiteId id, const GatheringsOfSite& gatherings, const WholeTransfers& transfers) {
  std::ptrdiff_t crowded = 0;
  if (!table_->collectives_cross_host) {
    for (const auto& [iteration, gathering] : gatherings) crowded += has_company(gathering) ? 1 : 0;
  }
  const bool is_crowded = 2 * crowded > std::ssize(gatherings);
  const WholeTransfers times = is_crowded ? transfers : times_alone(id, gatherings, transfers);
  added_.push_back({id, is_crowded, by_kind(gatherings, times)});
  if (!is_crowded) learn_rates(added_.back(), times);
}

/// Sets the site's own times to what it returns.
WholeTransfers JaggedExchanges::times_alone(SiteId id, const GatheringsOfSite& gatherings,
                                            const WholeTransfers& transfers) const {
  Site& site = table_->sites[id.index()];
  WholeTransfers times;
  double lost = 0;
  double usually_lost = 0;
  for (const auto& [iteration, whole] : transfers) {
    const auto recorded = static_cast<double>(gatherings.at(iteration).span().length());
    const double time = std::max(whole, std::min(recorded, least_time(site.bytes, pooled_)));
    lost += std::max(0.0, recorded - time);
    usually_lost += std::max(0.0, recorded - whole);
    set_part(id, iteration, time / site.alone_ns);
    times.emplace(iteration, time);
  }
  site.spread = 0;
  site.common_spread = 0;
  // Where that says more than its recorded time leaves room for, the company took less of it than usual.
  if (usually_lost > 0) site.lost_part = lost / usually_lost;
  return times;
}

void JaggedExchanges::learn_rates(const Added& alone, const WholeTransfers& times) {
  const auto bytes = static_cast<double>(table_->sites[alone.site.index()].bytes);
  for (const auto& [iteration, time] : times) {
    if (time <= kStartup) continue;
    slowest_ = std::min(slowest_, bytes / time);
    fastest_ = std::max(fastest_, bytes / time);
  }
  for (std::size_t kind = 0; alone.times && kind < kKinds; ++kind) {
    for (const double time : (*alone.times)[kind]) {
      if (time > kStartup) rates_[kind].push_back(bytes / (time - kLeastStartup));
    }
  }
}

void JaggedExchanges::free_crowded() const {
  constexpr double kJaggedPart = 0.5;
  const auto recorded_rate = [&](SiteId id) {
    const Site& site = table_->sites[id.index()];
    return static_cast<double>(site.bytes) / site.alone_ns;
  };
  double bandwidth = kJaggedPart * pooled_;
  for (const Added& one : added_) {
    if (one.is_crowded) bandwidth = std::max(bandwidth, recorded_rate(one.site));
  }
  bandwidth = std::min(std::max(bandwidth, fastest_), slowest_);
  for (const Added& one : added_) {
    Site& site = table_->sites[one.site.index()];
    if (!one.is_crowded || pooled_ <= 0) continue;
    if (one.times) {
      free_by_kind(site, *one.times);
    } else {
      free_unknown(site, bandwidth);
    }
  }
}

void JaggedExchanges::free_by_kind(Site& site, const ByKind& times) const {
  double recorded = 0;
  double freed = 0;
  double batches = 0;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (times[kind].empty()) continue;
    const auto of_kind = static_cast<double>(times[kind].size());
    const double usual = statistics::median(times[kind]);
    recorded += of_kind * usual;
    freed += of_kind * std::min(usual, needed(static_cast<Uneven>(kind), site));
    batches += of_kind;
  }
  set_alone(site, freed / batches, freed / recorded);
  site.spread = 0;
  site.common_spread = 0;
}

void JaggedExchanges::free_unknown(Site& site, double bandwidth) {
  const double most = static_cast<double>(site.bytes) / bandwidth + kStartup;
  if (site.alone_ns > most) set_alone(site, most, most / site.alone_ns);
}

double JaggedExchanges::lost_to_uneven_parts() const {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  double lost = 0;
  for (const Added& one : added_) {
    const Site& site = table_->sites[one.site.index()];
    if (!one.times || rate(Uneven::kNone, site) <= 0) continue;
    const double even = needed(Uneven::kNone, site);
    double of_site = 0;
    double batches = 0;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const std::vector<double>& times = (*one.times)[kind];
      batches += static_cast<double>(times.size());
      if (static_cast<Uneven>(kind) == Uneven::kNone || times.empty()) continue;
      const double most = one.is_crowded ? needed(static_cast<Uneven>(kind), site) : kNoLimit;
      for (const double time : times) of_site += std::max(0.0, std::min(time, most) - even);
    }
    lost += of_site / batches;
  }
  return lost;
}

/// Ns of such an exchange by itself.
double JaggedExchanges::needed(Uneven kind, const Site& site) const {
  return static_cast<double>(site.bytes) / rate(kind, site) + kLeastStartup;
}

/// Its bytes a nanosecond.
double JaggedExchanges::rate(Uneven kind, const Site& site) const {
  const std::vector<double>& seen = rates_[static_cast<std::size_t>(kind)];
  if (!seen.empty()) return statistics::median(seen);
  const double ctas = std::max(1, site.ctas);
  const double ranks = std::max(2, trace_->collective(site.instances.front())->group_size);
  // Between more ranks the links carry more of the bytes, and so slow even parts down, but not uneven ones.
  const double of_two_ranks = pooled_ * 2.0 * (ranks - 1.0) / ranks;
  switch (kind) {
    case Uneven::kNone: return pooled_;
    case Uneven::kOwn: return std::min({kOwnUnevenPart * of_two_ranks, kOwnUnevenCta * ctas, pooled_});
    case Uneven::kSent: return std::min({kUnevenPart * of_two_ranks, kUnevenCta * ctas, pooled_});
  }
  return pooled_;
}

std::optional<JaggedExchanges::ByKind> JaggedExchanges::by_kind(const GatheringsOfSite& gatherings,
                                                                const WholeTransfers& transfers) const {
  ByKind result;
  for (const auto& [iteration, time] : transfers) {
    const auto kind = uneven_parts(gatherings.at(iteration));
    if (!kind) return std::nullopt;
    result[static_cast<std::size_t>(*kind)].push_back(time);
  }
  return transfers.empty() ? std::nullopt : std::optional(std::move(result));
}

std::optional<JaggedExchanges::Uneven> JaggedExchanges::uneven_parts(const Gathering& gathering) const {
  Uneven most = Uneven::kNone;
  for (const Gathering::Part& part : gathering.parts) {
    const trace::CollectiveDetail* collective = trace_->collective(part.op);
    if (collective == nullptr || collective->part_alignment <= 0) return std::nullopt;
    if (collective->part_alignment < trace::kWidestCopy) return Uneven::kSent;
    if (collective->own_part_alignment < trace::kWidestCopy) most = Uneven::kOwn;
  }
  return most;
}

void JaggedExchanges::set_part(SiteId site, std::size_t iteration, double part) const {
  for (auto& iterations : table_->ranks) {
    if (iteration >= iterations.size()) continue;
    for (RecordedWork& work : iterations[iteration].works) {
      if (work.site == site) work.part = part;
    }
  }
}

/// Does something else than collectives run beside it for most of its time on some rank?
bool JaggedExchanges::has_company(const Gathering& gathering) const {
  const Interval span = gathering.span();
  return std::ranges::any_of(kernels_, [&](const IntervalSet& k) { return 2 * k.covered(span) > span.length(); });
}

}  // namespace interlace::replay
