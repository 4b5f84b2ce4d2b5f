#include <algorithm>
#include <map>
#include <set>

#include "simulator/graph/waits/inference.hpp"

namespace interlace::graph {

// c10d's watchdog thread looks, every 100 ms, at the end events of the collectives that are not known to be complete,
// in the order in which they were issued. It polls an event once, and again where the first poll finds it complete. The
// polls are recorded with event ids, and so name the event of each collective: the n-th new id on a watchdog thread
// belongs to the n-th collective of a communication stream, up to a shift, since some were issued before the recording
// began. The times bound the shift from both sides: a collective was issued before its first poll, had ended when it
// was last polled and dropped, and had not ended when it was polled and kept.

namespace {

static constexpr Nanoseconds kPauseOfWatchdog = 20 * kMillisecond;

/// One collective's event as a watchdog saw it.
struct Polled {
  std::int64_t event = 0;
  Nanoseconds first = 0;
  Nanoseconds last = 0;
  std::size_t round = 0;  ///< of the watchdog, the last in which it polled this event
  std::int64_t polls_in_round = 0;
  std::optional<Nanoseconds> pending_at{};  ///< the last poll after which it was kept

  [[nodiscard]] bool complete(std::int64_t polls_if_complete) const {
    return polls_if_complete > 1 && polls_in_round == polls_if_complete;
  }
};

struct Watchdog {
  std::vector<Polled> polled;  ///< in the order of issue
  std::size_t rounds = 0;
  std::int64_t polls_if_complete = 0;
};

Watchdog watch(const trace::Trace& trace, trace::LaneId thread) {
  struct Poll {
    std::int64_t event;
    Nanoseconds time;
    std::size_t round;
  };
  std::vector<Poll> polls;
  std::size_t round = 0;
  for (const trace::OperationId op : trace.on_lane(thread)) {
    const trace::SyncDetail* sync = trace.sync(op);
    if (sync == nullptr || sync->kind != trace::SyncKind::kEventQuery || !sync->event) continue;
    const Nanoseconds time = trace.end(op);
    if (!polls.empty() && time - polls.back().time > kPauseOfWatchdog) ++round;
    polls.push_back({*sync->event, time, round});
  }
  Watchdog watchdog{.rounds = round + 1};
  std::int64_t in_a_row = 0;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    const bool again = i > 0 && polls[i - 1].event == polls[i].event && polls[i - 1].round == polls[i].round;
    in_a_row = again ? in_a_row + 1 : 1;
    watchdog.polls_if_complete = std::max(watchdog.polls_if_complete, in_a_row);
  }
  std::map<std::int64_t, std::size_t> place_of_event;
  for (const Poll& poll : polls) {
    const auto known = place_of_event.find(poll.event);
    if (known != place_of_event.end()) {
      Polled& polled = watchdog.polled[known->second];
      if (polled.round == poll.round) {
        ++polled.polls_in_round;
        polled.last = poll.time;
        continue;
      }
      if (polled.round + 1 == poll.round && !polled.complete(watchdog.polls_if_complete)) {
        polled.pending_at = polled.last;
        polled.round = poll.round;
        polled.polls_in_round = 1;
        polled.last = poll.time;
        continue;
      }
    }
    place_of_event[poll.event] = watchdog.polled.size();
    watchdog.polled.push_back({poll.event, poll.time, poll.time, poll.round, 1});
  }
  return watchdog;
}

/// The threads of a rank that poll events and launch nothing.
std::vector<Watchdog> watchdogs_of(const WaitContext& context, trace::RankId rank) {
  std::vector<bool> launches(context.trace.lanes().size(), false);
  for (const HostCall& call : context.calls) launches[call.thread.index()] = true;
  std::vector<Watchdog> found;
  for (std::uint32_t l = 0; l < context.trace.lanes().size(); ++l) {
    const trace::Lane& lane = context.trace.lane({l});
    if (lane.kind != trace::LaneKind::kHostThread || lane.rank != rank || launches[l]) continue;
    Watchdog watchdog = watch(context.trace, {l});
    if (!watchdog.polled.empty()) found.push_back(std::move(watchdog));
  }
  return found;
}

/// The shifts that the times allow: watchdog.polled[i] belongs to collectives[i + shift]. Times of issue and end rise
/// along a stream, so each poll bounds the shift by itself. `tolerance` is how far host and device clocks may differ.
struct Shifts {
  std::ptrdiff_t least = 0;
  std::ptrdiff_t most = 0;
};

Shifts possible_shifts(const WaitContext& context, const Watchdog& watchdog,
                       std::span<const trace::OperationId> collectives, Nanoseconds tolerance) {
  const auto ended_by = [&](Nanoseconds time) {
    const auto end = std::ranges::partition_point(
        collectives, [&](trace::OperationId work) { return context.trace.end(work) <= time; });
    return end - collectives.begin();
  };
  Shifts shifts{.least = -std::ssize(watchdog.polled), .most = std::ssize(collectives)};
  for (std::ptrdiff_t i = 0; i < std::ssize(watchdog.polled); ++i) {
    const Polled& polled = watchdog.polled[static_cast<std::size_t>(i)];
    const auto issued = std::ranges::lower_bound(
        collectives, polled.first, {}, [&](trace::OperationId work) { return context.queues.queued_at(work); });
    shifts.most = std::min(shifts.most, (issued - collectives.begin()) - 1 - i);
    const bool dropped = polled.round + 1 < watchdog.rounds;
    std::optional<Nanoseconds> pending = polled.pending_at;
    if (dropped || polled.complete(watchdog.polls_if_complete)) {
      shifts.most = std::min(shifts.most, ended_by(polled.last + tolerance) - 1 - i);
    } else if (watchdog.polls_if_complete > 1) {
      pending = polled.last;
    }
    if (pending) shifts.least = std::max(shifts.least, ended_by(*pending - tolerance) - i);
  }
  return shifts;
}

/// Joins the open waits of a rank with the collectives that its watchdog polled.
class WatchdogOrder {
 public:
  WatchdogOrder(const WaitContext& context, const Watchdog& watchdog, std::span<const trace::OperationId> collectives,
                std::vector<WaitState*> waits)
      : context_(context), watchdog_(watchdog), collectives_(collectives), waits_(std::move(waits)) {}

  void resolve() const {
    // The greatest shift that fits the times, or one a little less (a collective issued just before a round of polls
    // may be missing in it) or more (the clocks differ): the one that suits the waits best.
    static constexpr std::ptrdiff_t kMissedByRound = 3;
    static constexpr Nanoseconds kClockDifference = 100 * kMicrosecond;
    const Shifts exact = possible_shifts(context_, watchdog_, collectives_, kStampTolerance);
    const Shifts loose = possible_shifts(context_, watchdog_, collectives_, kClockDifference);
    std::optional<std::ptrdiff_t> best;
    std::int64_t best_points = 0;
    const std::ptrdiff_t least = std::max(loose.least, exact.most - kMissedByRound);
    for (std::ptrdiff_t shift = loose.most; shift >= least; --shift) {
      if (shift + std::ssize(watchdog_.polled) <= 0) break;
      const std::int64_t sum = points(shift);
      if (best && sum <= best_points) continue;
      best = shift;
      best_points = sum;
    }
    if (!best) return;
    for (const auto& [wait, work] : pairs(*best)) {
      wait->result.evidence = Evidence::kWatchdogOrder;
      wait->result.kind = Producer::kCollective;
      wait->result.producer = work;
      wait->result.producer_stream = context_.trace.lane_of(work);
    }
  }

 private:
  [[nodiscard]] std::vector<std::pair<WaitState*, trace::OperationId>> pairs(std::ptrdiff_t shift) const;

  /// For every wait that is resolved, the more where its consumer started when the collective ended; against consumers
  /// that started before, and against every combination of two call sites, since a call site waits for the collectives
  /// of one or a few others.
  [[nodiscard]] std::int64_t points(std::ptrdiff_t shift) const;

  const WaitContext& context_;
  const Watchdog& watchdog_;
  std::span<const trace::OperationId> collectives_;
  std::vector<WaitState*> waits_;
};

std::int64_t WatchdogOrder::points(std::ptrdiff_t shift) const {
  std::int64_t sum = 0;
  std::set<std::pair<SiteId, std::optional<SiteId>>> combinations;
  for (const auto& [wait, work] : pairs(shift)) {
    const auto& consumer = wait->result.consumer;
    sum += 1;
    if (contradicts(context_.trace, work, consumer)) sum -= 16;
    if (consumer && is_bound_by(context_, work, *consumer)) sum += 4;
    std::optional<SiteId> issue;
    const auto launch = context_.trace.launch_of(work);
    const auto call = launch ? context_.index_of(*launch) : std::nullopt;
    if (call) issue = context_.call(*call).site;
    combinations.emplace(context_.call(wait->call).site, issue);
  }
  return sum - 4 * std::ssize(combinations);
}

std::vector<std::pair<WaitState*, trace::OperationId>> WatchdogOrder::pairs(std::ptrdiff_t shift) const {
  std::map<std::int64_t, std::vector<trace::OperationId>> works_of_event;
  const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, -shift);
  const std::ptrdiff_t end = std::min(std::ssize(watchdog_.polled), std::ssize(collectives_) - shift);
  for (std::ptrdiff_t i = first; i < end; ++i) {
    const std::int64_t event = watchdog_.polled[static_cast<std::size_t>(i)].event;
    works_of_event[event].push_back(collectives_[static_cast<std::size_t>(i + shift)]);
  }
  // A collective that was not polled may have taken over the event of an earlier one: waits after the issue of the
  // first such are left alone.
  std::optional<Nanoseconds> known_until;
  if (end + shift < std::ssize(collectives_)) {
    known_until = context_.queues.queued_at(collectives_[static_cast<std::size_t>(end + shift)]);
  }
  std::vector<std::pair<WaitState*, trace::OperationId>> found;
  for (WaitState* wait : waits_) {
    const HostCall& call = context_.call(wait->call);
    const auto works = works_of_event.find(*call.event);
    if (works == works_of_event.end() || (known_until && call.start > *known_until)) continue;
    // The last use of the event before the wait.
    const auto after = std::ranges::lower_bound(
        works->second, call.start, {}, [&](trace::OperationId work) { return context_.queues.queued_at(work); });
    if (after != works->second.begin()) found.emplace_back(wait, *std::prev(after));
  }
  return found;
}

}  // namespace

void apply_watchdog_order(const WaitContext& context, std::span<WaitState> waits) {
  for (std::uint32_t r = 0; r < context.trace.ranks().size(); ++r) {
    std::vector<trace::LaneId> streams;
    for (std::uint32_t l = 0; l < context.trace.lanes().size(); ++l) {
      const bool of_rank = context.trace.lane({l}).rank.value == r;
      if (of_rank && context.queues.is_communication({l})) streams.push_back({l});
    }
    const std::vector<Watchdog> watchdogs = watchdogs_of(context, {r});
    // With several process groups it is not known which watchdog is whose.
    if (streams.size() != 1 || watchdogs.size() != 1) continue;
    std::vector<WaitState*> of_rank;
    for (WaitState& wait : waits) {
      const HostCall& call = context.call(wait.call);
      if (wait.open() && call.rank.value == r && call.event) of_rank.push_back(&wait);
    }
    WatchdogOrder(context, watchdogs.front(), context.queues.queue(streams.front()), std::move(of_rank)).resolve();
  }
}

}  // namespace interlace::graph
