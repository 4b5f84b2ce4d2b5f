#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "simulator/graph/waits/inference.hpp"
#include "simulator/graph/waits/name_affinity.hpp"

namespace interlace::graph {

// work.wait() makes the current stream wait for the end event of a collective; no record stands beside it. What we
// rely on: the collectives issued at one call site are waited for at one call site, first in, first out. So first each
// site of issue is given to the site of waits that suits it best, then the collectives of a site of waits are laid
// beside its waits with the least lag that lets every wait come after its issue and that the recorded times allow.

namespace {

using trace::LaneId;
using trace::OperationId;

struct IssueSite {
  std::vector<std::string> names;
  LaneId thread;
  std::vector<OperationId> works;  ///< in the order of issue
};

struct WaitSite {
  std::vector<std::string> names;
  LaneId thread;
  LaneId stream;
  std::vector<WaitState*> waits;  ///< also those that stronger evidence has resolved to a collective
  std::size_t room = 0;           ///< waits that no issue site has claimed yet
  std::vector<OperationId> works;
};

/// Points for an issue site and a wait site that belong together. Strong evidence outweighs all the others together.
namespace points {
constexpr double kKnownPair = 20;  ///< times the share of resolved waits that wait for this site
constexpr double kBound = 6;       ///< times the share of times-bound waits that start when one of its works ends
constexpr double kName = 4;        ///< times the affinity of the names
constexpr double kThread = 2;      ///< issued and waited for by one thread
constexpr double kStream = 1;      ///< issued from the stream that waits
constexpr double kLeast = 2;       ///< a pair with less is not believed
}  // namespace points

class CollectiveHandles {
 public:
  CollectiveHandles(const WaitContext& context, trace::RankId rank, std::span<WaitState> waits, bool use_names)
      : context_(context), rank_(rank), use_names_(use_names) {
    collect_issues();
    collect_waits(waits);
  }

  void resolve() {
    give_issues_to_waits();
    for (WaitSite& site : wait_sites_) lay_beside(site);
  }

 private:
  void collect_issues();
  void collect_waits(std::span<WaitState> waits);
  void give_issues_to_waits();
  [[nodiscard]] double score(const IssueSite& issue, const WaitSite& wait, double affinity) const;
  using Turns = std::vector<std::vector<WaitState*>>;
  [[nodiscard]] Turns turns_of(const WaitSite& site) const;
  void lay_beside(WaitSite& site) const;
  [[nodiscard]] std::ptrdiff_t best_shift(const WaitSite& site, const Turns& turns) const;
  [[nodiscard]] std::int64_t objections(const WaitSite& site, const Turns& turns, std::ptrdiff_t shift) const;
  [[nodiscard]] static std::optional<OperationId> work_at(const WaitSite& site, std::ptrdiff_t place);

  const WaitContext& context_;
  trace::RankId rank_;
  bool use_names_;
  std::vector<IssueSite> issue_sites_;
  std::vector<WaitSite> wait_sites_;
  std::map<OperationId, std::optional<LaneId>> issued_from_;  ///< the stream in use when a collective was issued
};

void CollectiveHandles::collect_issues() {
  std::map<std::pair<LaneId, std::vector<std::string>>, std::size_t> known;
  for (const HostCall& call : context_.calls) {
    if (call.rank != rank_ || !call.collective) continue;
    const std::vector<std::string> names = telling_names(context_.sites.names(call.site));
    const auto [place, is_new] = known.try_emplace({call.thread, names}, issue_sites_.size());
    if (is_new) issue_sites_.push_back({names, call.thread, {}});
    const OperationId work = collective_of(context_, call);
    issue_sites_[place->second].works.push_back(work);
    issued_from_[work] = call.previous_launch ? context_.call(*call.previous_launch).stream : std::nullopt;
  }
}

void CollectiveHandles::collect_waits(std::span<WaitState> waits) {
  std::map<std::tuple<LaneId, std::vector<std::string>, LaneId>, std::size_t> known;
  for (WaitState& wait : waits) {
    const HostCall& call = context_.call(wait.call);
    const bool of_collective = wait.open() || wait.result.kind == Producer::kCollective;
    if (call.rank != rank_ || !of_collective || !wait.result.stream) continue;
    if (context_.queues.is_communication(*wait.result.stream)) continue;
    const std::vector<std::string> names = telling_names(context_.sites.names(call.site));
    const auto [place, is_new] = known.try_emplace({call.thread, names, *wait.result.stream}, wait_sites_.size());
    if (is_new) wait_sites_.push_back({names, call.thread, *wait.result.stream, {}, 0, {}});
    wait_sites_[place->second].waits.push_back(&wait);
  }
  for (WaitSite& site : wait_sites_) site.room = site.waits.size();
}

double CollectiveHandles::score(const IssueSite& issue, const WaitSite& site, double affinity) const {
  const std::set<OperationId> works(issue.works.begin(), issue.works.end());
  double known = 0;
  double known_here = 0;
  double bound = 0;
  double bound_here = 0;
  for (const WaitState* wait : site.waits) {
    if (wait->result.producer) {
      known += 1;
      known_here += works.contains(*wait->result.producer) ? 1 : 0;
    }
    if (!wait->result.consumer || !is_bound_by_wait(context_, *wait->result.consumer)) continue;
    bound += 1;
    // Works end in the order of issue, so the last that ended by the consumer's start is the one to look at.
    const Nanoseconds start = context_.trace.start(*wait->result.consumer) + kStampTolerance;
    const auto after =
        std::ranges::partition_point(issue.works, [&](OperationId work) { return context_.trace.end(work) <= start; });
    if (after == issue.works.begin()) continue;
    bound_here += is_bound_by(context_, *std::prev(after), *wait->result.consumer) ? 1 : 0;
  }
  double from_stream = 0;
  for (const OperationId work : issue.works) from_stream += issued_from_.at(work) == site.stream ? 1 : 0;
  double sum = affinity * points::kName;
  if (known > 0) sum += points::kKnownPair * known_here / known;
  if (bound > 0) sum += points::kBound * bound_here / bound;
  if (issue.thread == site.thread) sum += points::kThread;
  return sum + points::kStream * from_stream / static_cast<double>(issue.works.size());
}

void CollectiveHandles::give_issues_to_waits() {
  std::vector<std::vector<std::string>> names;
  for (const IssueSite& issue : issue_sites_) names.push_back(issue.names);
  for (const WaitSite& wait : wait_sites_) names.push_back(wait.names);
  const NameAffinity affinity(names);

  std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
  std::size_t steps = SIZE_MAX;
  for (std::size_t i = 0; i < issue_sites_.size(); ++i) {
    steps = std::min(steps, issue_sites_[i].works.size());
    for (std::size_t w = 0; w < wait_sites_.size(); ++w) {
      const double alike = use_names_ ? affinity(i, issue_sites_.size() + w) : 0;
      const double sum = score(issue_sites_[i], wait_sites_[w], alike);
      if (sum >= points::kLeast) pairs.emplace_back(-sum, i, w);
    }
  }
  std::ranges::sort(pairs);
  std::vector<bool> given(issue_sites_.size(), false);
  for (const auto& [sum, i, w] : pairs) {
    const std::size_t works = issue_sites_[i].works.size();
    // At the ends of a recording a site may show one step more of issues than of waits.
    const std::size_t one_step = (works + steps - 1) / steps;
    WaitSite& site = wait_sites_[w];
    if (given[i] || site.room == 0 || works > site.room + one_step) continue;
    given[i] = true;
    site.room -= std::min(site.room, works);
    site.works.insert(site.works.end(), issue_sites_[i].works.begin(), issue_sites_[i].works.end());
  }
  for (WaitSite& site : wait_sites_) {
    std::ranges::sort(site.works, {}, [&](OperationId work) { return context_.queues.queued_at(work); });
  }
}

/// The waits of a site, each in its turn. Waits for one event with no collective issued between them wait for one
/// collective; the event of a later one may be the same again.
CollectiveHandles::Turns CollectiveHandles::turns_of(const WaitSite& site) const {
  Turns turns;
  for (WaitState* wait : site.waits) {
    const HostCall& call = context_.call(wait->call);
    bool repeated = false;
    if (!turns.empty() && call.event) {
      const HostCall& before = context_.call(turns.back().back()->call);
      const auto issued = std::ranges::lower_bound(site.works, before.start, {},
                                                   [&](OperationId work) { return context_.queues.queued_at(work); });
      const bool none_between = issued == site.works.end() || context_.queues.queued_at(*issued) > call.start;
      repeated = call.event == before.event && none_between;
    }
    if (!repeated) turns.emplace_back();
    turns.back().push_back(wait);
  }
  return turns;
}

/// The k-th turn waits for works[k + shift].
void CollectiveHandles::lay_beside(WaitSite& site) const {
  if (site.works.empty()) return;
  const Turns turns = turns_of(site);
  const std::ptrdiff_t shift = best_shift(site, turns);
  for (std::ptrdiff_t k = 0; k < std::ssize(turns); ++k) {
    const auto work = work_at(site, k + shift);
    for (WaitState* wait : turns[static_cast<std::size_t>(k)]) {
      if (!wait->open()) continue;
      if (k + shift < 0) {  // issued before the recording began
        wait->result.evidence = Evidence::kCollectiveHandle;
        wait->result.kind = Producer::kNothing;
      } else if (work && !contradicts(context_.trace, *work, wait->result.consumer)) {
        wait->result.evidence = Evidence::kCollectiveHandle;
        wait->result.kind = Producer::kCollective;
        wait->result.producer = work;
        wait->result.producer_stream = context_.trace.lane_of(*work);
      }
    }
  }
}

/// The greatest shift, which is the least lag, of those to which the fewest waits object.
std::ptrdiff_t CollectiveHandles::best_shift(const WaitSite& site, const Turns& turns) const {
  // Every wait comes after its issue.
  const std::ptrdiff_t count = std::ssize(site.works);
  std::ptrdiff_t greatest = count;
  for (std::ptrdiff_t k = 0; k < std::ssize(turns); ++k) {
    const Nanoseconds time = context_.call(turns[static_cast<std::size_t>(k)].front()->call).start;
    const auto issued = std::ranges::lower_bound(site.works, time, {},
                                                 [&](OperationId work) { return context_.queues.queued_at(work); });
    greatest = std::min(greatest, (issued - site.works.begin()) - 1 - k);
  }
  // No program keeps more collectives of one site in flight.
  static constexpr std::ptrdiff_t kDeepest = 64;
  std::ptrdiff_t best = greatest;
  std::int64_t fewest = objections(site, turns, best);
  for (std::ptrdiff_t shift = greatest - 1; shift >= greatest - kDeepest && shift > -count && fewest > 0; --shift) {
    const std::int64_t sum = objections(site, turns, shift);
    if (sum >= fewest) continue;
    fewest = sum;
    best = shift;
  }
  return best;
}

/// Consumers that started before the collective ended; a wait that better evidence joins with another counts for four.
std::int64_t CollectiveHandles::objections(const WaitSite& site, const Turns& turns, std::ptrdiff_t shift) const {
  std::int64_t sum = 0;
  for (std::ptrdiff_t k = 0; k < std::ssize(turns); ++k) {
    const auto work = work_at(site, k + shift);
    for (const WaitState* wait : turns[static_cast<std::size_t>(k)]) {
      if (wait->result.producer) {
        sum += wait->result.producer == work ? 0 : 4;
      } else if (work) {
        sum += contradicts(context_.trace, *work, wait->result.consumer) ? 1 : 0;
      }
    }
  }
  return sum;
}

std::optional<OperationId> CollectiveHandles::work_at(const WaitSite& site, std::ptrdiff_t place) {
  const bool there = place >= 0 && place < std::ssize(site.works);
  return there ? std::optional(site.works[static_cast<std::size_t>(place)]) : std::nullopt;
}

}  // namespace

void apply_collective_handles(const WaitContext& context, std::span<WaitState> waits, bool use_names) {
  for (std::uint32_t r = 0; r < context.trace.ranks().size(); ++r) {
    CollectiveHandles(context, {r}, waits, use_names).resolve();
  }
}

}  // namespace interlace::graph
