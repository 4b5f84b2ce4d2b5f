#include "simulator/graph/process_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "simulator/graph/rules/collective_order.hpp"
#include "simulator/graph/streams_of_rank.hpp"

namespace interlace::graph {

using trace::OperationId;
using trace::RankId;

namespace {

using Ranks = std::vector<RankId>;
/// The collectives of each rank, by start.
using OfRanks = std::map<RankId, std::vector<OperationId>>;

/// What the collectives of a group have in common on all of its ranks.
struct Key {
  std::string_view name;
  std::int32_t size = 0;     ///< 0 where not recorded
  std::uint32_t stream = 0;  ///< without a name: how many streams of the rank with such collectives come before
  auto operator<=>(const Key&) const = default;
};

std::map<Key, OfRanks> gather(const trace::Trace& trace) {
  std::map<Key, OfRanks> all;
  const auto gather_rank = [&](RankId rank) {
    std::map<std::int32_t, std::uint32_t> streams_without_name;
    for (const trace::LaneId stream : streams_of_rank(trace, rank)) {
      std::map<Key, std::vector<OperationId>> here;
      for (const OperationId op : trace.on_lane(stream)) {
        if (trace.kind(op) != trace::OperationKind::kCollective) continue;
        const trace::CollectiveDetail* detail = trace.collective(op);
        here[detail == nullptr ? Key{} : Key{trace.text(detail->group), std::max(0, detail->group_size)}].push_back(op);
      }
      for (const auto& [key, ops] : here) {
        Key whole = key;
        if (key.name.empty()) whole.stream = streams_without_name[key.size]++;
        std::ranges::copy(ops, std::back_inserter(all[whole][rank]));
      }
    }
  };
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) gather_rank({r});
  for (auto& [key, of_ranks] : all) {
    for (auto& [rank, ops] : of_ranks) std::ranges::sort(ops, {}, [&](OperationId op) { return trace.start(op); });
  }
  return all;
}

OfRanks of_all_ranks(const trace::Trace& trace, const OfRanks& collectives) {
  OfRanks of_all;
  for (const auto& [rank, ops] : collectives) {
    std::ranges::copy_if(ops, std::back_inserter(of_all[rank]),
                         [&](OperationId op) { return is_of_all_ranks(trace, op); });
  }
  return of_all;
}

/// How the collectives of two ranks lie beside each other by their numbers, or by order where these do not tell.
Alignment beside_each_other(const trace::Trace& trace, std::span<const OperationId> a, std::span<const OperationId> b) {
  const auto numbered = by_sequence(trace, a);
  const auto others = by_sequence(trace, b);
  if (!numbered || !others) return align(trace, a, b).value_or(Alignment{});
  Alignment of_numbers;
  for (const auto& [number, mine] : *numbered) {
    const auto its = others->find(number);
    if (its == others->end()) continue;
    ++of_numbers.pairs;
    of_numbers.fit += may_belong_together(trace, mine, its->second) ? 1 : 0;
  }
  return of_numbers;
}

/// Whether nearly all collectives that two ranks may have in common ran at the same time. A few that meet by chance, at
/// the end of one recording and the begin of the other, do not count.
bool ran_together(const trace::Trace& trace, std::span<const OperationId> a, std::span<const OperationId> b) {
  const Alignment found = beside_each_other(trace, a, b);
  const auto shorter = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return found.fit > 0 && 20 * found.fit >= 19 * found.pairs && 2 * found.pairs >= shorter;
}

/// The ranks in sets that ran together.
std::vector<Ranks> apart_by_time(const trace::Trace& trace, const OfRanks& collectives) {
  std::vector<Ranks> sets;
  for (const auto& [rank, ops] : collectives) {
    Ranks joined;
    for (Ranks& set : sets) {
      if (!ran_together(trace, collectives.at(set.front()), ops)) continue;
      std::ranges::copy(set, std::back_inserter(joined));
      set.clear();
    }
    std::erase_if(sets, [](const Ranks& set) { return set.empty(); });
    joined.push_back(rank);
    sets.push_back(std::move(joined));
  }
  return sets;
}

/// The groups of ranks whose collectives have one key.
std::vector<ProcessGroup> groups_of(const trace::Trace& trace, const Key& key, const OfRanks& collectives) {
  const auto size = static_cast<std::size_t>(key.size);
  const bool is_shared = size > 0 && collectives.size() > size;
  std::vector<ProcessGroup> groups;
  const auto add = [&](Ranks ranks, bool is_ambiguous) {
    std::ranges::sort(ranks);
    groups.push_back({std::string(key.name), std::move(ranks), is_shared, is_ambiguous});
  };
  std::vector<Ranks> sets;
  if (!is_shared) {
    Ranks all;
    for (const auto& [rank, ops] : collectives) all.push_back(rank);
    add(std::move(all), false);
  } else if (size == 1) {
    for (const auto& [rank, ops] : collectives) add({rank}, false);
  } else {
    sets = apart_by_time(trace, of_all_ranks(trace, collectives));
  }
  Ranks alone;
  for (Ranks& ranks : sets) {
    if (ranks.size() == 1) {
      alone.push_back(ranks.front());
    } else {
      const bool are_several = ranks.size() > size;
      add(std::move(ranks), are_several);
    }
  }
  const bool may_meet = alone.size() > 1;
  if (!alone.empty()) add(std::move(alone), may_meet);
  return groups;
}

}  // namespace

ProcessGroups::ProcessGroups(const trace::Trace& trace, Diagnostics& diagnostics) {
  for (const auto& [key, of_ranks] : gather(trace)) {
    for (ProcessGroup& group : groups_of(trace, key, of_ranks)) {
      std::int64_t count = 0;
      for (const RankId rank : group.ranks) {
        for (const OperationId op : of_ranks.at(rank)) of_collective_.emplace(op, groups_.size());
        count += std::ssize(of_ranks.at(rank));
      }
      if (group.is_ambiguous) diagnostics.count(kAmbiguousGroup, group.name, count);
      groups_.push_back(std::move(group));
    }
  }
}

std::optional<std::size_t> ProcessGroups::of(OperationId work) const {
  const auto known = of_collective_.find(work);
  return known == of_collective_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace interlace::graph
