#include "simulator/replay/races.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <optional>

#include "simulator/base/statistics.hpp"

namespace interlace::replay {

namespace {

constexpr double kWorthTelling = 0.01;  // of a step
constexpr double kMillisecondNs = 1e6;

/// A kernel's name without what C++ adds to it: "void at::(anonymous namespace)::f<float>(int)" is "at::f". Generated
/// names that go on and on are cut.
std::string plain_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  constexpr std::size_t kLongest = 60;
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string plain(name);
  for (auto at = plain.find(kAnonymous); at != std::string::npos; at = plain.find(kAnonymous)) {
    plain.erase(at, kAnonymous.size());
  }
  plain.resize(std::min(plain.size(), plain.find_first_of("<(")));
  if (plain.size() > kLongest) plain = plain.substr(0, kLongest) + "...";
  return plain;
}

/// What the works of one site lost, and to whom, over all steps.
struct Losses {
  std::vector<double> lost_ns;
  std::map<SiteId, int> rivals;
};

using LossesBySite = std::map<SiteId, Losses>;

/// Works of one rank and run in order of start, for "which ran at that time".
class Timeline {
 public:
  Timeline(const SimulationResult& run, std::uint32_t rank, bool collectives) {
    for (const WorkId id : run.in_order_of_start) {
      const Work& work = run.works[id.index()];
      const bool fits = collectives ? work.kind == WorkKind::kCollective : work.kind == WorkKind::kKernel;
      if (work.rank == rank && fits) works_.push_back(&work);
    }
    for (const Work* w : works_) longest_ = std::max(longest_, *w->end_ns - *w->start_ns);
  }

  /// Of the works that ran at `t`, the one that still ran longest.
  [[nodiscard]] const Work* at(double t) const {
    const Work* found = nullptr;
    auto after = std::ranges::upper_bound(works_, t, {}, [](const Work* w) { return *w->start_ns; });
    while (after != works_.begin()) {
      const Work* w = *--after;
      if (*w->start_ns < t - longest_) break;
      if (*w->end_ns > t && (found == nullptr || *w->end_ns > *found->end_ns)) found = w;
    }
    return found;
  }

 private:
  std::vector<const Work*> works_;
  double longest_ = 0;
};

LossesBySite losses_in(const SimulationResult& run, const SiteTable& table, std::int32_t warm_up) {
  LossesBySite losses;
  for (std::uint32_t rank = 0; rank < run.iteration_ends.size(); ++rank) {
    const Timeline kernels(run, rank, false);
    const Timeline collectives(run, rank, true);
    for (const Work& work : run.works) {
      if (work.rank != rank || work.iteration < warm_up) continue;
      const Site& site = table.sites[work.site.index()];
      if (work.kind == WorkKind::kCollective && work.ready_ns) {
        Losses& l = losses[work.site];
        l.lost_ns.push_back(std::max(0.0, *work.start_ns - *work.ready_ns));
        if (const Work* rival = l.lost_ns.back() > 0 ? kernels.at(*work.ready_ns) : nullptr) ++l.rivals[rival->site];
      } else if (work.kind == WorkKind::kKernel && contention::runs_in_cohorts(site.shape)) {
        Losses& l = losses[work.site];
        l.lost_ns.push_back(std::max(0.0, *work.end_ns - *work.start_ns - work.active.alone_ns));
        if (const Work* rival = l.lost_ns.back() > 0 ? collectives.at(*work.start_ns) : nullptr)
          ++l.rivals[rival->site];
      }
    }
  }
  return losses;
}

void add(const LossesBySite& more, LossesBySite& losses) {
  for (const auto& [site, of_run] : more) {
    Losses& all = losses[site];
    all.lost_ns.insert(all.lost_ns.end(), of_run.lost_ns.begin(), of_run.lost_ns.end());
    for (const auto& [rival, times] : of_run.rivals) all.rivals[rival] += times;
  }
}

/// The first of each pair that is called alike, with the number of them.
std::vector<Race> each_pair_once(const std::vector<Race>& races) {
  std::vector<Race> once;
  for (const Race& race : races) {
    const auto known = std::ranges::find_if(
        once, [&](const Race& other) { return other.loser == race.loser && other.winner == race.winner; });
    if (known == once.end()) {
      once.push_back(race);
    } else {
      ++known->places;
    }
  }
  return once;
}

std::string described(const Site& site) {
  return fmt::format("{} of {}", plain_name(site.name), schedule::to_string(site.segment.stage));
}

}  // namespace

std::string Race::text() const {
  const std::string where = places == 1 ? "it" : fmt::format("in the worst of {} places it", places);
  return fmt::format("{} races with {} for SMs: {} loses {:.1f} to {:.1f} ms a step, depending on which comes first",
                     loser, winner, where, lost_low_ns / kMillisecondNs, lost_high_ns / kMillisecondNs);
}

std::vector<Race> find_races(std::span<const SimulationResult> runs, const SiteTable& table, std::int32_t warm_up,
                             double step_ns) {
  std::vector<LossesBySite> by_run(runs.size());
  tbb::parallel_for(std::size_t{0}, runs.size(),
                    [&](std::size_t run) { by_run[run] = losses_in(runs[run], table, warm_up); });
  LossesBySite losses;
  for (const LossesBySite& of_run : by_run) add(of_run, losses);
  std::vector<Race> races;
  for (const auto& [id, l] : losses) {
    if (l.rivals.empty()) continue;
    const double low = statistics::quantile(l.lost_ns, 0.1);
    const double high = statistics::quantile(l.lost_ns, 0.9);
    if (high - low < kWorthTelling * step_ns) continue;
    const auto rival = std::ranges::max_element(l.rivals, {}, [](const auto& entry) { return entry.second; });
    races.push_back({described(table.sites[id.index()]), described(table.sites[rival->first.index()]), low, high});
  }
  std::ranges::stable_sort(races, std::greater<>{}, [](const Race& r) { return r.lost_high_ns - r.lost_low_ns; });
  return each_pair_once(races);
}

}  // namespace interlace::replay
