#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "simulator/graph/waits/inference.hpp"

namespace interlace::graph {

// CUPTI numbers events in the order of their creation, and PyTorch creates an event when it is first recorded. So the
// ids of events that live for one use (wait_stream, the future of a collective) count such records in host order.
// Events that are used again (of c10d's cache, of the allocators, of NCCL) keep their old ids and do not count. Which
// call sites make new events is found from the pairs of record and wait whose ids are known: between two of them, the
// new records must be as many as the ids.

namespace {

/// Where a record stands: after a collective, or at which site, by which call.
struct RecordClass {
  bool after_collective = false;
  SiteId site;
  trace::StringId call;

  auto operator<=>(const RecordClass&) const = default;
};

struct FixedPoint {
  std::size_t position;  ///< in the list of records
  std::int64_t event;
};

struct Gap {
  std::vector<std::uint32_t> counts;  ///< records a class
  std::int64_t ids = 0;               ///< ids strictly between the fixed points

  auto operator<=>(const Gap&) const = default;
};

/// The collective after whose launch `record` follows, in the same range, with no other launch between.
std::optional<std::uint32_t> collective_before(const WaitContext& context, std::uint32_t record) {
  const HostCall& call = context.call(record);
  for (auto at = call.previous; at; at = context.call(*at).previous) {
    const HostCall& before = context.call(*at);
    if (!call.range || before.range != call.range) break;
    if (before.collective) return at;
    if (before.role == CallRole::kLaunch) break;
  }
  return std::nullopt;
}

/// Whether more such records follow. c10d makes one new event a collective, that of its future, and makes it last.
bool is_last_after_collective(const WaitContext& context, std::uint32_t record) {
  const HostCall& call = context.call(record);
  for (auto at = call.next; at; at = context.call(*at).next) {
    const HostCall& after = context.call(*at);
    if (after.range != call.range || after.role == CallRole::kLaunch) break;
    if (after.role == CallRole::kRecord) return false;
  }
  return true;
}

/// The numbering of the new events of one rank.
class EventNumbers {
 public:
  EventNumbers(const WaitContext& context, trace::RankId rank, std::span<const WaitState> waits);

  /// The record that made the event with this id; an index of WaitContext::calls.
  [[nodiscard]] std::optional<std::uint32_t> record_of(std::int64_t event) const {
    const auto found = record_of_event_.find(event);
    return found == record_of_event_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::optional<std::int64_t> first_event() const {
    return record_of_event_.empty() ? std::nullopt : std::optional(record_of_event_.begin()->first);
  }

 private:
  static constexpr std::size_t kMaxClasses = 16;

  void find_fixed_points(std::span<const WaitState> waits);
  void classify();
  [[nodiscard]] Gap gap_between(std::size_t first, std::size_t last, std::int64_t ids) const;
  [[nodiscard]] std::vector<std::uint32_t> solutions() const;
  [[nodiscard]] std::int64_t agreement(std::span<const WaitState> waits) const;
  void choose(std::span<const WaitState> waits);
  void number(std::uint32_t solution);
  [[nodiscard]] static std::int64_t explained(const Gap& gap, std::uint32_t solution);

  const WaitContext& context_;
  std::vector<std::uint32_t> records_;  ///< indices of context_.calls
  std::vector<FixedPoint> fixed_;
  std::vector<std::optional<std::uint32_t>> class_of_;  ///< by place in records_; none where known to be an old event
  std::size_t classes_ = 0;
  std::int64_t most_waited_for_ = 0;  ///< new events that a program can be thought to wait for
  std::map<std::int64_t, std::uint32_t> record_of_event_;
  std::set<std::uint32_t> paired_;  ///< records that an adjacent wait with a known id belongs to
};

EventNumbers::EventNumbers(const WaitContext& context, trace::RankId rank, std::span<const WaitState> waits)
    : context_(context) {
  for (std::uint32_t i = 0; i < context.calls.size(); ++i) {
    const HostCall& call = context.call(i);
    if (call.rank == rank && call.role == CallRole::kRecord) records_.push_back(i);
  }
  find_fixed_points(waits);
  if (fixed_.size() < 3) return;
  std::set<std::int64_t> waited_for;
  for (const WaitState& wait : waits) {
    const auto event = context.call(wait.call).event;
    if (wait.open() && event && *event > fixed_.front().event) waited_for.insert(*event);
  }
  if (waited_for.empty()) return;
  // Some of the last events may be waited for after the end of the recording: up to a step's, of two steps or more.
  most_waited_for_ = 2 * std::ssize(waited_for);
  classify();
  choose(waits);
}

void EventNumbers::find_fixed_points(std::span<const WaitState> waits) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> pairs;
  std::map<std::int64_t, int> uses;
  for (const WaitState& wait : waits) {
    const HostCall& call = context_.call(wait.call);
    if (!wait.record || !call.event || !std::ranges::binary_search(records_, *wait.record)) continue;
    paired_.insert(*wait.record);
    if (!pairs.empty() && pairs.back().first == *wait.record) continue;
    pairs.emplace_back(*wait.record, *call.event);
    ++uses[*call.event];
  }
  std::ranges::sort(pairs);
  for (const auto& [record, event] : pairs) {
    if (uses[event] > 1 || (!fixed_.empty() && event <= fixed_.back().event)) continue;
    const auto place = std::ranges::lower_bound(records_, record);
    fixed_.push_back({static_cast<std::size_t>(place - records_.begin()), event});
  }
}

void EventNumbers::classify() {
  std::map<RecordClass, std::uint32_t> sizes;
  std::vector<std::optional<RecordClass>> key(records_.size());
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const HostCall& call = context_.call(records_[i]);
    if (paired_.contains(records_[i])) continue;
    if (!collective_before(context_, records_[i])) {
      key[i] = RecordClass{false, call.site, context_.trace.names()[call.op.index()]};
    } else if (is_last_after_collective(context_, records_[i])) {
      key[i] = RecordClass{.after_collective = true};
    } else {
      continue;
    }
    ++sizes[*key[i]];
  }
  // The records after collectives first, then the commonest sites, without those that record more often than is waited.
  std::vector<std::pair<std::tuple<bool, std::int64_t>, RecordClass>> order;
  for (const auto& [record_class, size] : sizes) {
    if (!record_class.after_collective && size > most_waited_for_) continue;
    order.push_back({{!record_class.after_collective, -std::int64_t{size}}, record_class});
  }
  std::ranges::sort(order);
  classes_ = std::min(order.size(), kMaxClasses);
  std::map<RecordClass, std::uint32_t> number;
  for (std::uint32_t c = 0; c < classes_; ++c) number[order[c].second] = c;
  class_of_.resize(records_.size());
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (const auto known = key[i] ? number.find(*key[i]) : number.end(); known != number.end()) {
      class_of_[i] = known->second;
    }
  }
}

Gap EventNumbers::gap_between(std::size_t first, std::size_t last, std::int64_t ids) const {
  Gap gap{std::vector<std::uint32_t>(classes_, 0), ids};
  for (std::size_t i = first; i < last; ++i) {
    if (class_of_[i]) ++gap.counts[*class_of_[i]];
  }
  return gap;
}

std::int64_t EventNumbers::explained(const Gap& gap, std::uint32_t solution) {
  std::int64_t ids = 0;
  for (std::size_t c = 0; c < gap.counts.size(); ++c) {
    if ((solution >> c & 1U) != 0) ids += gap.counts[c];
  }
  return ids;
}

/// The sets of classes (a bit each) that explain most gaps. Empty where the best explain fewer than two gaps or less
/// than half of those that have ids to explain.
std::vector<std::uint32_t> EventNumbers::solutions() const {
  std::map<Gap, std::int64_t> all;
  std::int64_t telling = 0;
  for (std::size_t f = 1; f < fixed_.size(); ++f) {
    const std::int64_t ids = fixed_[f].event - fixed_[f - 1].event - 1;
    if (ids == 0) continue;
    ++all[gap_between(fixed_[f - 1].position + 1, fixed_[f].position, ids)];
    ++telling;
  }
  // Training repeats itself: a few gaps stand for nearly all.
  static constexpr std::size_t kMaxGaps = 24;
  std::vector<std::pair<Gap, std::int64_t>> gaps(all.begin(), all.end());
  std::ranges::stable_sort(gaps, std::greater<>{}, &std::pair<Gap, std::int64_t>::second);
  if (gaps.size() > kMaxGaps) gaps.resize(kMaxGaps);
  std::int64_t most = 1;
  std::vector<std::uint32_t> best;
  for (std::uint32_t solution = 1; solution < (1U << classes_); ++solution) {
    std::int64_t met = 0;
    for (const auto& [gap, times] : gaps) {
      if (explained(gap, solution) == gap.ids) met += times;
    }
    if (met > most) best.clear();
    most = std::max(most, met);
    if (met == most) best.push_back(solution);
  }
  return most >= 2 && 2 * most >= telling ? best : std::vector<std::uint32_t>{};
}

/// How well the waits agree with the numbering. A record that comes after its wait, or a collective that ended after
/// the consumer began, speaks against it; an event that is waited for, for it. A new event that nobody waits for speaks
/// against it where no collective made it: a program makes an event to wait for it.
std::int64_t EventNumbers::agreement(std::span<const WaitState> waits) const {
  std::int64_t sum = 0;
  std::set<std::int64_t> waited_for;
  for (const WaitState& wait : waits) {
    const HostCall& call = context_.call(wait.call);
    if (!wait.open() || !call.event) continue;
    waited_for.insert(*call.event);
    const auto record = record_of(*call.event);
    if (!record) continue;
    if (context_.call(*record).start >= call.start) sum -= 4;
    const auto launch = collective_before(context_, *record);
    if (launch && contradicts(context_.trace, collective_of(context_, context_.call(*launch)), wait.result.consumer)) {
      sum -= 4;
    }
  }
  for (const auto& [event, record] : record_of_event_) {
    if (waited_for.contains(event)) {
      ++sum;
    } else if (!collective_before(context_, record)) {
      --sum;
    }
  }
  return sum;
}

/// Of equal solutions the first: it has the records after collectives and the commonest sites.
void EventNumbers::choose(std::span<const WaitState> waits) {
  static constexpr std::size_t kMaxTried = 256;
  std::vector<std::uint32_t> tried = solutions();
  if (tried.size() > kMaxTried) tried.resize(kMaxTried);
  std::optional<std::pair<std::int64_t, std::uint32_t>> best;
  for (const std::uint32_t solution : tried) {
    number(solution);
    const std::int64_t agrees = agreement(waits);
    if (!best || agrees > best->first) best = {agrees, solution};
  }
  if (best) number(best->second);
}

void EventNumbers::number(std::uint32_t solution) {
  record_of_event_.clear();
  const auto is_new = [&](std::size_t i) { return class_of_[i] && (solution >> *class_of_[i] & 1U) != 0; };
  const auto count_up = [&](std::size_t first, std::size_t last, std::int64_t event) {
    for (std::size_t i = first; i < last; ++i) {
      if (is_new(i)) record_of_event_.emplace(event++, records_[i]);
    }
  };
  bool all_met = true;
  for (std::size_t f = 1; f < fixed_.size(); ++f) {
    const FixedPoint& a = fixed_[f - 1];
    const FixedPoint& b = fixed_[f];
    const std::int64_t ids = b.event - a.event - 1;
    if (explained(gap_between(a.position + 1, b.position, ids), solution) == ids) {
      count_up(a.position + 1, b.position, a.event + 1);
    } else {
      all_met = false;
    }
  }
  if (!all_met) return;
  // Where every gap fits, the numbering also holds before the first and after the last fixed point.
  count_up(fixed_.back().position + 1, records_.size(), fixed_.back().event + 1);
  std::int64_t event = fixed_.front().event;
  for (std::size_t i = fixed_.front().position; i-- > 0;) {
    if (is_new(i)) record_of_event_.emplace(--event, records_[i]);
  }
}

/// A wait for an event older than all numbered ones, at a site whose other waits are for numbered events, waits for
/// what was recorded before the recording began.
void resolve_older(const WaitContext& context, std::span<WaitState> waits, trace::RankId rank,
                   std::int64_t first_event) {
  std::set<std::pair<SiteId, std::optional<trace::LaneId>>> numbered;
  for (const WaitState& wait : waits) {
    if (wait.result.evidence != Evidence::kEventNumber) continue;
    numbered.emplace(context.call(wait.call).site, wait.result.stream);
  }
  for (WaitState& wait : waits) {
    const HostCall& call = context.call(wait.call);
    if (!wait.open() || call.rank != rank || !call.event || *call.event >= first_event) continue;
    if (!numbered.contains({call.site, wait.result.stream})) continue;
    wait.result.evidence = Evidence::kEventNumber;
    wait.result.kind = Producer::kNothing;
  }
}

}  // namespace

void apply_event_numbers(const WaitContext& context, std::span<WaitState> waits) {
  for (std::uint32_t r = 0; r < context.trace.ranks().size(); ++r) {
    std::vector<WaitState> of_rank;
    for (const WaitState& wait : waits) {
      if (context.call(wait.call).rank.value == r) of_rank.push_back(wait);
    }
    const EventNumbers numbers(context, {r}, of_rank);
    for (WaitState& wait : waits) {
      const HostCall& call = context.call(wait.call);
      if (!wait.open() || call.rank.value != r || !call.event) continue;
      const auto record = numbers.record_of(*call.event);
      if (!record || context.call(*record).start >= call.start) continue;
      wait.result.evidence = Evidence::kEventNumber;
      wait.result.record = context.call(*record).op;
      const auto launch = collective_before(context, *record);
      if (launch) {
        wait.result.kind = Producer::kCollective;
        wait.result.producer = collective_of(context, context.call(*launch));
        wait.result.producer_stream = context.trace.lane_of(*wait.result.producer);
      } else {
        wait.record = record;
      }
    }
    if (const auto first = numbers.first_event()) resolve_older(context, waits, {r}, *first);
  }
}

}  // namespace interlace::graph
