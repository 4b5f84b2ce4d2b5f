#include "simulator/replay/command_queues.hpp"

#include <algorithm>
#include <utility>

#include "simulator/base/interval.hpp"
#include "simulator/base/statistics.hpp"
#include "simulator/replay/fetch_delays.hpp"

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
  for (const RecordedIteration& iteration : table.ranks[rank]) {
    for (const RecordedCall& call : iteration.calls) {
      for (std::uint32_t w = 0; w < call.works; ++w) {
        const RecordedWork& work = iteration.works[call.first_work + w];
        const Site& site = table.sites[work.site.index()];
        const Interval runs{trace.start(*work.work), trace.end(*work.work)};
        if (site.loads_link) copies.push_back(runs);
        if (work.on_collective_stream || !is_fetched_for_compute(site.kind)) continue;
        auto& [unfinished, running] = works[trace.lane_of(*work.work)];
        unfinished.push_back({trace.end(*call.call) + kKnown, runs.end});
        running.push_back(runs);
      }
    }
  }
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
  double delayed = 0;
  double all = 0;

  [[nodiscard]] double part() const { return all > 0 ? delayed / all : 0.0; }
};

}  // namespace

CommandQueues command_queues(const Trace& trace, const SiteTable& table, std::span<const QueuedStart> starts,
                             const std::map<RankId, LaneId>& main_lanes) {
  const FetchDelays& delays = table.fetch_delays;
  CommandQueues queues;
  queues.undelayed.assign(starts.size(), true);
  for (const auto& [rank, main] : main_lanes) {
    const Courses courses = courses_of(trace, table, rank.index());
    std::vector<std::pair<std::size_t, Surroundings>> seen;
    std::vector<double> alone;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (starts[i].rank != rank) continue;
      seen.emplace_back(i, around(starts[i], courses));
      if (seen.back().second.waiting.empty()) alone.push_back(static_cast<double>(starts[i].gap));
    }
    const double usual = alone.size() < kFewestStarts ? kUsualDispatchGap : statistics::median(alone);

    // Some starts are late with nothing that delays them: by so much fewer than those seen are others delayed.
    Share by_chance;
    std::map<LaneId, Share> with_main;
    for (const auto& [i, surroundings] : seen) {
      if (surroundings.in_company || surroundings.waiting.size() > 1) continue;
      const double delay = surroundings.copying ? delays.beside_copies_ns : delays.beside_work_ns;
      const bool delayed = static_cast<double>(starts[i].gap) > usual + kShows * delay;
      const auto count = [delayed](Share& share) {
        share.delayed += delayed ? 1.0 : 0.0;
        share.all += 1.0;
      };
      if (surroundings.waiting.empty()) {
        count(by_chance);
      } else if (starts[i].lane == main) {
        count(with_main[surroundings.waiting.front()]);
      } else if (surroundings.waiting.front() == main) {
        count(with_main[starts[i].lane]);
      }
    }
    for (const auto& [lane, share] : with_main) {
      if (share.all < kFewestStarts) continue;
      const double chance = std::min(by_chance.part(), 0.5);
      queues.with_main[lane] = std::clamp((share.part() - chance) / (1.0 - chance), 0.0, 1.0);
    }
    const auto share_of = [&](LaneId lane) {
      if (lane == main) return 1.0;
      const auto known = queues.with_main.find(lane);
      return known == queues.with_main.end() ? kUnknownQueue : known->second;
    };
    for (const auto& [i, surroundings] : seen) {
      const double own = share_of(starts[i].lane);
      queues.undelayed[i] = std::ranges::none_of(
          surroundings.waiting, [&](LaneId other) { return in_one_queue(own, share_of(other)) > kHardlyEver; });
    }
  }
  return queues;
}

}  // namespace interlace::replay
