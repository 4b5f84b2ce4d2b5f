#include <algorithm>
#include <map>
#include <tuple>

#include "simulator/graph/waits/inference.hpp"

namespace interlace::graph {

using trace::LaneId;
using trace::OperationId;

namespace {

/// How well one stream fits as the one on which the events of a site were recorded.
struct Fit {
  LaneId stream;
  std::int64_t contradicted = 0;  ///< consumers that started before the work queued on the stream ended
  std::int64_t bound = 0;         ///< consumers that started right when that work ended
  std::int64_t rank_sum = 0;      ///< 0 for the stream used last before a record, 1 for the next ...

  /// Less is better.
  [[nodiscard]] auto key() const { return std::tuple(contradicted, -bound, rank_sum, stream); }
};

/// The streams of the rank's device by last use before `record`; the one that the thread itself used last comes first.
std::vector<LaneId> by_last_use(const WaitContext& context, const HostCall& record, std::span<const LaneId> streams) {
  std::vector<std::tuple<bool, Nanoseconds, LaneId>> used;
  const HostCall* launch = record.previous_launch ? &context.call(*record.previous_launch) : nullptr;
  for (const LaneId stream : streams) {
    const auto last = context.queues.last_before(stream, record.start);
    if (last)
      used.emplace_back(launch == nullptr || launch->stream != stream, -context.queues.queued_at(*last), stream);
  }
  std::ranges::sort(used);
  std::vector<LaneId> order;
  for (const auto& entry : used) order.push_back(std::get<2>(entry));
  return order;
}

std::vector<Fit> fits(const WaitContext& context, std::span<WaitState* const> group, std::span<const LaneId> streams) {
  std::vector<Fit> all;
  all.reserve(streams.size());
  for (const LaneId stream : streams) all.push_back({.stream = stream});
  for (const WaitState* wait : group) {
    const HostCall& record = context.call(*wait->record);
    const std::vector<LaneId> order = by_last_use(context, record, streams);
    for (Fit& fit : all) {
      const auto place = std::ranges::find(order, fit.stream);
      fit.rank_sum += place - order.begin();
      const auto last = context.queues.last_before(fit.stream, record.start);
      if (!last || !wait->result.consumer) continue;
      if (contradicts(context.trace, *last, wait->result.consumer)) ++fit.contradicted;
      if (is_bound_by(context, *last, *wait->result.consumer)) ++fit.bound;
    }
  }
  std::ranges::sort(all, {}, &Fit::key);
  return all;
}

/// Waits of one call site on one stream: they wait for the same stream, step by step.
struct Group {
  std::vector<WaitState*> waits;
  std::vector<Fit> ranked;  ///< best first
  std::size_t chosen = 0;   ///< of `ranked`
  std::size_t equal = 0;    ///< how many of `ranked` the recorded times do not tell from the best

  [[nodiscard]] const ResolvedWait& first() const { return waits.front()->result; }
};

void rank_streams(const WaitContext& context, Group& group, std::span<const LaneId> all_streams) {
  std::vector<LaneId> streams;
  // stream.wait_stream() is called for another stream; an event of the program may also be waited for on its own.
  const bool may_be_same = group.first().evidence == Evidence::kEventNumber;
  for (const LaneId stream : all_streams) {
    const bool other = may_be_same || stream != group.first().stream;
    if (other && !context.queues.is_communication(stream)) streams.push_back(stream);
  }
  group.ranked = fits(context, group.waits, streams);
  // One wait in twenty may contradict: such a one is dropped by itself later.
  if (!group.ranked.empty() && group.ranked.front().contradicted * 20 > std::ssize(group.waits)) group.ranked.clear();
  for (const Fit& fit : group.ranked) {
    const Fit& best = group.ranked.front();
    if (fit.contradicted <= best.contradicted && fit.bound >= best.bound) ++group.equal;
  }
}

/// Whether the event was recorded on the stream in use: the inputs of a collective are made there, and autograd leaves
/// it for another. Elsewhere a stream that fits as well as the first choice leaves a doubt.
bool in_use(Evidence evidence) { return evidence == Evidence::kNcclInput || evidence == Evidence::kStreamSwitch; }

/// How many groups have chosen this stream.
std::ptrdiff_t waits_for(std::span<Group* const> groups, LaneId stream) {
  return std::ranges::count_if(groups, [&](const Group* group) {
    return !group->ranked.empty() && group->ranked[group->chosen].stream == stream;
  });
}

/// Of the groups that `stream` would suit as well as their first choice, and that are not the only ones to wait for
/// that, the one whose consumers start first; and the stream's place in its ranking.
std::optional<std::pair<Group*, std::size_t>> best_suited(const WaitContext& context, std::span<Group* const> groups,
                                                          LaneId stream) {
  std::optional<std::pair<Group*, std::size_t>> best;
  Nanoseconds earliest = 0;
  for (Group* group : groups) {
    if (group->ranked.empty() || in_use(group->first().evidence)) continue;
    const auto end = group->ranked.begin() + static_cast<std::ptrdiff_t>(group->equal);
    const auto place = std::find_if(group->ranked.begin(), end, [&](const Fit& fit) { return fit.stream == stream; });
    if (place == end || waits_for(groups, group->ranked[group->chosen].stream) < 2) continue;
    const auto& consumer = group->waits.back()->result.consumer;
    const Nanoseconds start = consumer ? context.trace.start(*consumer) : context.trace.length();
    if (best && start >= earliest) continue;
    best = {group, static_cast<std::size_t>(place - group->ranked.begin())};
    earliest = start;
  }
  return best;
}

/// Work that nobody waits for would be lost to the other streams. So a stream without any wait takes one that suits it
/// as well as its first choice.
void give_every_stream_a_wait(const WaitContext& context, std::span<Group* const> groups,
                              std::span<const LaneId> streams) {
  for (const LaneId stream : streams) {
    if (context.queues.is_communication(stream) || waits_for(groups, stream) > 0) continue;
    if (const auto suited = best_suited(context, groups, stream)) suited->first->chosen = suited->second;
  }
}

void settle(const WaitContext& context, const Group& group) {
  for (WaitState* wait : group.waits) {
    ResolvedWait& result = wait->result;
    if (group.ranked.empty()) {
      result.evidence = Evidence::kUnknown;
      continue;
    }
    result.producer_stream = group.ranked[group.chosen].stream;
    result.producer = context.queues.last_before(*result.producer_stream, context.call(*wait->record).start);
    result.kind = result.producer ? Producer::kQueuedWork : Producer::kNothing;
    result.producer_stream_assumed = group.equal > 1 && !in_use(result.evidence);
  }
}

}  // namespace

void find_producer_streams(const WaitContext& context, std::span<WaitState> waits) {
  std::map<std::tuple<LaneId, SiteId, std::optional<LaneId>, Evidence>, Group> groups;
  for (WaitState& wait : waits) {
    if (!wait.record || wait.result.kind != Producer::kUnknown) continue;
    const HostCall& record = context.call(*wait.record);
    wait.result.record = record.op;
    groups[{record.thread, record.site, wait.result.stream, wait.result.evidence}].waits.push_back(&wait);
  }
  const std::size_t ranks = context.trace.ranks().size();
  std::vector<std::vector<LaneId>> streams(ranks);
  for (std::uint32_t l = 0; l < context.trace.lanes().size(); ++l) {
    if (!context.queues.queue({l}).empty()) streams[context.trace.lane({l}).rank.index()].push_back({l});
  }
  std::vector<std::vector<Group*>> of_rank(ranks);
  for (auto& [key, group] : groups) {
    const std::size_t rank = context.call(group.waits.front()->call).rank.index();
    rank_streams(context, group, streams[rank]);
    of_rank[rank].push_back(&group);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) give_every_stream_a_wait(context, of_rank[rank], streams[rank]);
  for (const auto& [key, group] : groups) settle(context, group);
}

bool is_bound_by_wait(const WaitContext& context, OperationId consumer) {
  static constexpr Nanoseconds kIdle = 10 * kMicrosecond;
  const Nanoseconds start = context.trace.start(consumer);
  const auto call = context.trace.launch_of(consumer);
  if (!call || context.trace.end(*call) > start - kIdle) return false;
  const auto before = context.queues.predecessor(consumer);
  return !before || context.trace.end(*before) <= start - kIdle;
}

bool is_bound_by(const WaitContext& context, OperationId producer, OperationId consumer) {
  static constexpr Nanoseconds kAtOnce = 8 * kMicrosecond;
  const Nanoseconds gap = context.trace.start(consumer) - context.trace.end(producer);
  return gap >= -kStampTolerance && gap <= kAtOnce && is_bound_by_wait(context, consumer);
}

}  // namespace interlace::graph
