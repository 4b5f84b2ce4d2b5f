#include "simulator/replay/communicators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace interlace::replay {

namespace {

using trace::OperationId;

/// How many of the collectives of two ranks ran at the same time, in the order in which each rank has them.
std::size_t together(const trace::Trace& trace, const std::vector<OperationId>& a, const std::vector<OperationId>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (trace.start(a[i]) < trace.end(b[i]) && trace.start(b[i]) < trace.end(a[i])) ++count;
  }
  return count;
}

}  // namespace

struct Communicators::GroupOfName {
  trace::StringId name;
  std::size_t size = 0;                                         ///< ranks in one of them; 0: not recorded
  std::map<std::uint32_t, std::vector<OperationId>> of_rank{};  ///< its collectives, by start

  [[nodiscard]] Members ranks() const {
    Members ranks;
    for (const auto& [rank, collectives] : of_rank) ranks.push_back(rank);
    return ranks;
  }

  /// The groups that share the name; none where the recording does not tell.
  [[nodiscard]] std::optional<std::vector<Members>> apart(const trace::Trace& trace) const {
    std::vector<Members> groups;
    Members left = ranks();
    while (!left.empty()) {
      const std::uint32_t first = left.front();
      const std::vector<OperationId>& own = of_rank.at(first);
      const auto meets = [&](std::uint32_t other) {
        const std::vector<OperationId>& its = of_rank.at(other);
        return its.size() == own.size() && together(trace, own, its) == own.size();
      };
      const auto others = std::stable_partition(left.begin(), left.end(), meets);
      Members group(left.begin(), others);
      if (group.size() != size) return std::nullopt;
      left.erase(left.begin(), others);
      groups.push_back(std::move(group));
    }
    return groups;
  }
};

/// The collectives of one rank that tell their group.
void Communicators::gather(const stages::RankCut& cut, std::uint32_t rank, Groups& groups) const {
  for (const stages::Iteration& iteration : cut.iterations) {
    for (const stages::Item& item : iteration.items) {
      for (const OperationId op : trace_->launched_by(item.call)) {
        const trace::CollectiveDetail* detail = trace_->collective(op);
        if (detail == nullptr || trace_->text(detail->group).empty()) continue;
        GroupOfName& group = groups.try_emplace(detail->group, GroupOfName{detail->group}).first->second;
        group.size = std::max(group.size, static_cast<std::size_t>(std::max(0, detail->group_size)));
        group.of_rank[rank].push_back(op);
      }
    }
  }
}

Communicators::Communicators(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics)
    : trace_(&trace), members_(1, Members(cut.ranks.size())) {
  std::iota(members_.front().begin(), members_.front().end(), 0);
  Groups groups;
  for (std::uint32_t r = 0; r < cut.ranks.size(); ++r) gather(cut.ranks[r], r, groups);
  for (auto& [name, group] : groups) {
    for (auto& [rank, ops] : group.of_rank) std::ranges::sort(ops, {}, [&](OperationId op) { return trace.start(op); });
    const bool shares_its_name = group.size > 0 && group.of_rank.size() > group.size;
    const auto apart = shares_its_name ? group.apart(trace) : std::nullopt;
    if (apart) {
      for (const Members& members : *apart) add(group, members);
      continue;
    }
    if (shares_its_name) {
      diagnostics.count(kGroupsUnclear, fmt::format("group {} of {} ranks on {} ranks", trace.text(name), group.size,
                                                    group.of_rank.size()));
    }
    add(group, group.ranks());
  }
}

void Communicators::add(const GroupOfName& group, const Members& members) {
  std::uint32_t number = kAll;
  if (members != members_.front()) {
    number = static_cast<std::uint32_t>(members_.size());
    members_.push_back(members);
  }
  for (const std::uint32_t rank : members) of_rank_[{group.name, rank}] = number;
}

std::uint32_t Communicators::of(OperationId collective, std::uint32_t rank) const {
  const trace::CollectiveDetail* detail = trace_->collective(collective);
  if (detail == nullptr) return kAll;
  const auto known = of_rank_.find({detail->group, rank});
  return known == of_rank_.end() ? kAll : known->second;
}

}  // namespace interlace::replay
