#include "simulator/replay/kernel_costs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/base/statistics.hpp"
#include "simulator/contention/gpu.hpp"
#include "simulator/contention/slowdown.hpp"
#include "simulator/replay/changing_kernels.hpp"
#include "simulator/replay/observation.hpp"

namespace interlace::replay {

namespace {

using trace::OperationId;
using trace::Trace;

constexpr std::size_t kEnoughByItself = 2;

/// Clocks that went backwards make durations of zero, of which no part could be told.
constexpr double kLeastNs = 1.0;

/// What the recording itself shows of how strongly collectives slow a kernel, those that wait and those that move data.
struct SeenSensitivity {
  std::optional<double> waiting;
  std::optional<double> moving;
};

/// Told where the kernel was by itself, and mostly beside the one kind of collectives, at least twice each.
SeenSensitivity sensitivity_of(const std::vector<Observation>& observations) {
  constexpr double kMostOfIt = 0.8;
  constexpr double kStrongest = 2.0;
  std::vector<double> alone;
  for (const Observation& o : observations) {
    if (!o.beside_collectives()) alone.push_back(o.measured_ns);
  }
  if (alone.size() < kEnoughByItself) return {};
  const double by_itself = statistics::median(alone);
  std::vector<double> waiting;
  std::vector<double> moving;
  for (const Observation& o : observations) {
    if (o.covered_ns < 0.5 * o.measured_ns || o.ctas <= 1) continue;
    const double seen = contention::observed_sensitivity(by_itself, o.measured_ns, o.covered_ns, o.ctas);
    if (o.moving_ns >= kMostOfIt * o.covered_ns) moving.push_back(seen);
    if (o.moving_ns <= (1.0 - kMostOfIt) * o.covered_ns) waiting.push_back(seen);
  }
  const auto middle = [&](const std::vector<double>& seen) -> std::optional<double> {
    if (seen.size() < 2) return std::nullopt;
    return std::min(kStrongest, statistics::median(seen));
  };
  return {middle(waiting), middle(moving)};
}

/// What the recording shows, else what the machine's profile says, else what is usual. One that waits never costs more
/// than one that moves data.
contention::Sensitivity sensitivity(contention::Bound bound, const SeenSensitivity& seen,
                                    const contention::MachineProfile& machine) {
  const auto& known = bound == contention::Bound::kGather ? machine.gather_sensitivity : machine.streaming_sensitivity;
  contention::Sensitivity result = contention::usual_sensitivity(bound);
  result.moving = seen.moving.value_or(known.value_or(result.moving));
  result.waiting = std::min(seen.waiting.value_or(result.waiting), result.moving);
  return result;
}

/// What a kernel of the main stream takes, by its observations freed of collectives. Other kernels beside it only ever
/// delay: the lower half of the observations is the cleaner one, and those without such company are cleaner still.
double undelayed(const std::vector<Observation>& observations, const std::vector<double>& freed) {
  const std::vector<double> by_itself = times_by_itself(observations, freed);
  const double lower_half = statistics::quantile(freed, 0.4);
  const bool is_seen = by_itself.size() >= kEnoughByItself && by_itself.size() < freed.size();
  return is_seen ? std::min(lower_half, statistics::median(by_itself)) : lower_half;
}

/// A kernel that more urgent ones put off goes on at a small part of its pace beside them. Where it hardly ever ran by
/// itself, `freed` of collectives is freed of that, too: updates of tables on the stream of the input distribution held
/// a transposition of 0.2 ms up for 0.9 to 1.1 ms in 23 of 24 steps (n6 under fused_sparse_dist).
void free_of_urgent_company(const Site& site, const std::vector<Observation>& observations,
                            std::vector<double>& freed) {
  if (site.on_side_stream || contention::runs_in_cohorts(site.shape)) return;
  if (times_by_itself(observations, freed).size() >= kEnoughByItself) return;
  const double put_off = 1.0 - contention::shares_beside(site.shape).other;
  for (std::size_t i = 0; i < freed.size(); ++i) {
    if (!observations[i].was_put_off()) continue;
    freed[i] *= 1.0 - put_off * observations[i].company_ns / observations[i].measured_ns;
  }
}

/// The median, company included, which only ever delays: so much it does not take by itself. What took a thousand times
/// as long a few times had company for a small part of that only.
double usually_measured(const std::vector<Observation>& observations) {
  std::vector<double> times;
  for (const Observation& o : observations) times.push_back(o.measured_ns);
  return statistics::median(times);
}

/// Where it is seen often enough with neither collectives nor kernels beside it, these instances tell. Of those that
/// had to be freed the luckiest is too short: it lost the least to a collective and is freed of what is usual.
/// `count_ids` of `t9_4_ranks` took 245 to 247 us by itself and, freed, 206.
double time_of_kernel(const Site& site, const std::vector<Observation>& observations,
                      const std::vector<double>& freed) {
  constexpr std::size_t kEnough = 3;
  const std::vector<double> undisturbed =
      times_where(observations, freed, [](const Observation& o) { return !o.in_company() && !o.beside_collectives(); });
  if (undisturbed.size() >= kEnough) return std::min(statistics::median(undisturbed), usually_measured(observations));
  return site.on_side_stream ? shortest_time(observations, freed) : undelayed(observations, freed);
}

/// What kernels of side streams take, where company delays them most. Those of one name and grid mostly do the same
/// work wherever they stand, so that the luckiest of them tells what one costs that never ran by itself.
class LuckiestKernels {
 public:
  /// lowest: of its observations, freed of collectives.
  void see(const Site& site, double lowest, const std::vector<Observation>& observations) {
    const auto [known, is_new] = least_.try_emplace({site.name, site.shape.blocks}, lowest);
    if (!is_new) known->second = std::min(known->second, lowest);
    Instances& seen = instances_[&site];
    for (const Observation& o : observations) {
      seen.by_itself = seen.by_itself || !o.in_company();
      seen.without_company_ns = std::max(seen.without_company_ns, o.measured_ns - o.company_ns);
    }
  }

  /// From the shortest time of the site's own, alone_ns.
  [[nodiscard]] double undelayed(const Site& site) const {
    // A grid that is made for the GPU does not tell how much there is to do.
    const Instances& seen = instances_.at(&site);
    if (seen.by_itself || site.shape.blocks % site.shape.sm_count == 0) return site.alone_ns;
    const double least = least_.at({site.name, site.shape.blocks});
    const bool is_same_work = site.alone_ns <= kSameWork * least;
    const bool was_held_up = site.alone_ns > kOtherWork * least && seen.without_company_ns <= least;
    return is_same_work || was_held_up ? least : site.alone_ns;
  }

 private:
  /// Where shortest times differ by more, so may the work: company hardly ever delays all instances as much.
  static constexpr double kSameWork = 1.2;
  /// By so much the work of one grid does not differ. Each instance was held up, if it had company all the time but
  /// what it needs: a permutation always beside one multiplication took 0.82 ms, 0.05 at its other site (n5 under
  /// sparse).
  static constexpr double kOtherWork = 4.0;

  struct Instances {
    bool by_itself = false;         ///< one of them had no kernel of another stream beside it
    double without_company_ns = 0;  ///< the most that one of them ran so
  };
  std::map<std::pair<std::string, std::int64_t>, double> least_;
  std::map<const Site*, Instances> instances_;
};

/// The same kernel takes each rank its own time, as each holds other tables: row updates of `dp_mp_317` 8.1 and 9.6 ms.
/// Told of ranks that show it by itself. Matrix multiplications are the same on all.
class TimesByRank {
 public:
  explicit TimesByRank(std::size_t ranks) : parts_(ranks) {}

  /// `site`: with the time that all ranks show together; `freed`: of its instances, in their order.
  void see(const Trace& trace, SiteId id, Site& site, const std::vector<Observation>& observations,
           const std::vector<double>& freed) {
    constexpr std::size_t kEnough = 3;
    if (site.shape.bound == contention::Bound::kCompute) return;
    std::vector<std::vector<Observation>> of_rank(parts_.size());
    std::vector<std::vector<double>> times(parts_.size());
    for (std::size_t i = 0; i < freed.size(); ++i) {
      const std::size_t rank = trace.rank_of(site.instances[i]).index();
      of_rank[rank].push_back(observations[i]);
      times[rank].push_back(freed[i]);
    }
    double spread = 0;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      if (times[r].size() < kEnough || times_by_itself(of_rank[r], times[r]).size() < kEnoughByItself) continue;
      parts_[r][id] = time_of_kernel(site, of_rank[r], times[r]) / site.alone_ns;
      spread = std::max(spread, spread_of(times[r], site.spread));
    }
    if (spread > 0) site.spread = spread;  // what is left of it when ranks are told apart
  }

  void give_to(SiteTable& table) const {
    for (std::size_t r = 0; r < table.ranks.size(); ++r) {
      for (RecordedIteration& iteration : table.ranks[r]) {
        for (RecordedWork& work : iteration.works) {
          if (const auto found = parts_[r].find(work.site); found != parts_[r].end()) work.part = found->second;
        }
      }
    }
  }

 private:
  std::vector<std::map<SiteId, double>> parts_;
};

/// Large copies within device memory all run at one pace by themselves. That of the luckiest is the best known: others
/// waited for SMs, which shows as the time they took.
void free_device_copies(const Trace& trace, SiteTable& table) {
  constexpr double kLarge = 4e6;          // bytes
  constexpr double kLeast = 1e6;          // what is less depends on more than its size
  constexpr double kStartupNs = 3'000.0;  // 20 to 157 MB took 17.3 to 109 us, 1.44 bytes/ps and this
  std::map<const Site*, std::vector<double>> sizes;
  double best = 0;
  for (const Site& site : table.sites) {
    if (site.kind != WorkKind::kDeviceCopy) continue;
    for (const OperationId op : site.instances) {
      const trace::CopyDetail* copy = trace.copy(op);
      if (copy == nullptr || trace.duration(op) <= 0) continue;
      const auto bytes = static_cast<double>(copy->bytes);
      sizes[&site].push_back(bytes);
      if (bytes > kLarge) best = std::max(best, bytes / static_cast<double>(trace.duration(op)));
    }
  }
  for (Site& site : table.sites) {
    const auto found = sizes.find(&site);
    if (best <= 0 || found == sizes.end()) continue;
    const double bytes = statistics::median(found->second);
    if (bytes >= kLeast) site.alone_ns = std::min(site.alone_ns, bytes / best + kStartupNs);
  }
}

}  // namespace

void estimate_kernels(const Trace& trace, const Gatherings& gatherings, SiteTable& table,
                      const contention::MachineProfile& machine, Diagnostics& diagnostics) {
  constexpr double kMostSpread = 0.03;
  const std::vector<CollectiveCompany> collectives = collective_company(trace, last_arrivals(gatherings));
  std::vector<DeviceCompany> company;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) company.emplace_back(trace, trace::RankId{r});

  LuckiestKernels luckiest;
  TimesByRank by_rank(trace.ranks().size());
  ChangingKernels changing(trace);
  int sensitive = 0;
  int seen_sensitive = 0;
  for (std::uint32_t s = 0; s < table.sites.size(); ++s) {
    Site& site = table.sites[s];
    if (site.kind == WorkKind::kCollective) continue;
    std::vector<Observation> observations;
    for (const OperationId op : site.instances) {
      const std::size_t rank = trace.rank_of(op).index();
      observations.push_back(observe(trace, op, collectives[rank]));
      if (site.kind != WorkKind::kKernel) continue;
      const DeviceCompany::Beside beside = company[rank].beside(op);
      observations.back().company_ns = static_cast<double>(beside.all);
      observations.back().later_ns = static_cast<double>(beside.came_later);
    }
    const bool shares_sms = site.kind == WorkKind::kKernel || site.kind == WorkKind::kDeviceCopy;
    const SeenSensitivity seen = sensitivity_of(observations);
    site.sensitivity = sensitivity(site.shape.bound, seen, machine);
    const bool counts = site.kind == WorkKind::kKernel && site.shape.bound != contention::Bound::kCompute;
    sensitive += counts ? 1 : 0;
    seen_sensitive += counts && (seen.waiting || seen.moving) ? 1 : 0;
    std::vector<double> freed;
    for (const Observation& o : observations) {
      const double time = shares_sms
                              ? contention::freed_of_collectives(site.shape, site.sensitivity, o.measured_ns, o.held)
                              : o.measured_ns;
      freed.push_back(std::max(kLeastNs, time));
    }
    site.spread = spread_of(freed, kMostSpread);
    if (site.kind != WorkKind::kKernel) {
      site.alone_ns = statistics::median(freed);
      continue;
    }
    changing.see(site, observations);
    free_of_urgent_company(site, observations, freed);
    site.alone_ns = time_of_kernel(site, observations, freed);
    luckiest.see(site, shortest_time(observations, freed), observations);
    by_rank.see(trace, SiteId{s}, site, observations, freed);
  }
  for (Site& site : table.sites) {
    if (site.kind == WorkKind::kKernel && site.on_side_stream) site.alone_ns = luckiest.undelayed(site);
  }
  changing.count(diagnostics);
  by_rank.give_to(table);
  free_device_copies(trace, table);
  if (seen_sensitive > 0) {
    table.fitted.push_back("sensitivity of " + std::to_string(seen_sensitive) + " of " + std::to_string(sensitive) +
                           " kernels to collectives");
  }
}

}  // namespace interlace::replay
