#include "simulator/replay/command_queues.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "simulator/base/interval.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/replay/fetch_delays.hpp"
#include "simulator/replay/recorded_works.hpp"

namespace interlace::replay {

namespace {

using trace::LaneId;
using trace::RankId;
using trace::Trace;

/// From the return of a launch call until the device knows of the work.
constexpr Nanoseconds kKnown = 1 * kMicrosecond;
/// Fewer starts tell nothing.
constexpr std::size_t kFewestStarts = 8;
/// A start that is later than usual by this part of what a shared queue costs was delayed by one.
constexpr double kShows = 0.5;
/// What delays a work less often than this does not matter to it.
constexpr double kHardlyEver = 0.25;

/// What a stream of one rank had to do.
struct Course {
  IntervalSet unfinished;  ///< something was queued or ran
  IntervalSet runs;
};

/// Of one rank. Streams of collectives, which are in another queue than the main one wherever it was seen, and copies,
/// whose commands other engines fetch, do not count.
struct Courses {
  std::map<LaneId, Course> lanes;
  IntervalSet copies;  ///< from the host
};

Courses courses_of(const Trace& trace, const SiteTable& table, std::size_t rank) {
  std::map<LaneId, std::pair<std::vector<Interval>, std::vector<Interval>>> works;
  std::vector<Interval> copies;
  const auto see = [&](const RecordedCall& call, const RecordedWork& work) {
    const Site& site = table.sites[work.site.index()];
    const Interval runs{trace.start(*work.work), trace.end(*work.work)};
    if (site.engine == CopyEngine::kToDevice) copies.push_back(runs);
    if (work.on_collective_stream || !is_fetched_for_compute(site.kind)) return;
    auto& [unfinished, running] = works[trace.lane_of(*work.work)];
    unfinished.push_back({trace.end(*call.call) + kKnown, runs.end});
    running.push_back(runs);
  };
  for (const RecordedIteration& iteration : table.ranks[rank]) for_each_work(iteration, see);
  Courses courses;
  for (auto& [lane, of_lane] : works) {
    courses.lanes[lane] = {IntervalSet(std::move(of_lane.first)), IntervalSet(std::move(of_lane.second))};
  }
  courses.copies = IntervalSet(std::move(copies));
  return courses;
}

/// What else there was at a start.
struct Surroundings {
  std::vector<LaneId> waiting;  ///< lanes with unfinished work
  bool copying = false;
  bool in_company = false;  ///< works of other lanes ran, for whose SMs it may have waited
};

Surroundings around(const QueuedStart& start, const Courses& courses) {
  const Interval gap{start.free, start.free + std::max<Nanoseconds>(1, start.gap)};
  const auto all_of_it = [&](const IntervalSet& set) { return set.covered(gap) == gap.length(); };
  Surroundings seen;
  for (const auto& [lane, course] : courses.lanes) {
    if (lane == start.lane) continue;
    if (all_of_it(course.unfinished)) seen.waiting.push_back(lane);
    seen.in_company = seen.in_company || course.runs.covered(gap) > 0;
  }
  seen.copying = all_of_it(courses.copies);
  return seen;
}

struct Share {
  double late = 0;
  double all = 0;

  void count(bool is_late) {
    late += is_late ? 1.0 : 0.0;
    all += 1.0;
  }
  [[nodiscard]] double part() const { return all > 0 ? late / all : 0.0; }
};

/// The starts of one rank, and what they show.
class RankStarts {
 public:
  RankStarts(std::span<const QueuedStart> starts, RankId rank, LaneId main, const Courses& courses,
             const FetchDelays& delays)
      : starts_(starts), main_(main), delays_(delays) {
    std::vector<double> alone;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (starts[i].rank != rank) continue;
      seen_.emplace_back(i, around(starts[i], courses));
      if (seen_.back().second.waiting.empty()) alone.push_back(static_cast<double>(starts[i].gap));
    }
    usual_ = alone.size() < kFewestStarts ? kUsualDispatchGap : statistics::median(alone);
  }

  /// Some starts are late with nothing that delays them: by so much fewer than those seen are others delayed.
  [[nodiscard]] std::map<LaneId, double> with_main() const {
    Share by_chance;
    std::map<LaneId, Share> shares;
    for (const auto& [i, surroundings] : seen_) {
      if (surroundings.in_company || surroundings.waiting.size() > 1) continue;
      if (surroundings.waiting.empty()) by_chance.count(is_late(i, surroundings));
      if (const auto side = side_lane(i, surroundings)) shares[*side].count(is_late(i, surroundings));
    }
    const double chance = std::min(by_chance.part(), 0.5);
    std::map<LaneId, double> parts;
    for (const auto& [lane, share] : shares) {
      if (share.all < kFewestStarts) continue;
      parts[lane] = std::clamp((share.part() - chance) / (1.0 - chance), 0.0, 1.0);
    }
    return parts;
  }

  /// Adds what is told in `queues` of the streams: which starts nothing delayed, and for how long the others were late.
  void tell(CommandQueues& queues) const {
    const auto share_of = [&](LaneId lane) {
      const auto known = queues.with_main.find(lane);
      return lane == main_ ? 1.0 : known == queues.with_main.end() ? kUnknownQueue : known->second;
    };
    for (const auto& [i, surroundings] : seen_) {
      const double own = share_of(starts_[i].lane);
      queues.undelayed[i] = std::ranges::none_of(
          surroundings.waiting, [&](LaneId other) { return in_one_queue(own, share_of(other)) > kHardlyEver; });
      const auto side = surroundings.in_company ? std::nullopt : side_lane(i, surroundings);
      if (side && share_of(*side) > kUnknownQueue && is_late(i, surroundings)) queues.late_ns[*side] += late_ns(i);
    }
  }

 private:
  [[nodiscard]] double late_ns(std::size_t start) const { return static_cast<double>(starts_[start].gap) - usual_; }

  [[nodiscard]] bool is_late(std::size_t start, const Surroundings& surroundings) const {
    return late_ns(start) > kShows * (surroundings.copying ? delays_.beside_copies_ns : delays_.beside_work_ns);
  }

  /// Where works of a side stream and of the main one, and of no other, were beside each other: the side stream.
  [[nodiscard]] std::optional<LaneId> side_lane(std::size_t start, const Surroundings& surroundings) const {
    if (surroundings.waiting.size() != 1) return std::nullopt;
    if (starts_[start].lane == main_) return surroundings.waiting.front();
    return surroundings.waiting.front() == main_ ? std::optional(starts_[start].lane) : std::nullopt;
  }

  std::span<const QueuedStart> starts_;
  LaneId main_;
  FetchDelays delays_;
  std::vector<std::pair<std::size_t, Surroundings>> seen_;
  double usual_ = kUsualDispatchGap;
};

}  // namespace

CommandQueues command_queues(const Trace& trace, const SiteTable& table, std::span<const QueuedStart> starts,
                             const std::map<RankId, LaneId>& main_lanes) {
  CommandQueues queues;
  queues.undelayed.assign(starts.size(), true);
  for (const auto& [rank, main] : main_lanes) {
    const RankStarts of_rank(starts, rank, main, courses_of(trace, table, rank.index()), table.fetch_delays);
    queues.with_main.merge(of_rank.with_main());
    of_rank.tell(queues);
  }
  return queues;
}

}  // namespace interlace::replay
