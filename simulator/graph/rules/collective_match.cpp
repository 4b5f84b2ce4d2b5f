#include "simulator/graph/rules/collective_match.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "simulator/graph/rules/edge_list.hpp"
#include "simulator/graph/rules/rules.hpp"

namespace interlace::graph {

using trace::CollectiveFunction;
using trace::OperationId;

namespace {

/// The collectives of one group on one rank, as queued.
struct Part {
  trace::RankId rank;
  std::vector<OperationId> works;
};

CollectiveFunction function_of(const trace::Trace& trace, OperationId work) {
  const trace::CollectiveDetail* detail = trace.collective(work);
  return detail == nullptr ? CollectiveFunction::kUnknown : detail->function;
}

bool may_belong_together(const trace::Trace& trace, OperationId a, OperationId b) {
  const bool overlap =
      trace.start(a) <= trace.end(b) + kClockTolerance && trace.start(b) <= trace.end(a) + kClockTolerance;
  return overlap && function_of(trace, a) == function_of(trace, b);
}

/// The shift for which most pairs may belong together, of those that join the middle collective of `first` with one of
/// `other` that overlaps it. None where fewer than half do.
std::optional<std::ptrdiff_t> find_shift(const trace::Trace& trace, std::span<const OperationId> first,
                                         std::span<const OperationId> other) {
  const auto fitting = [&](std::ptrdiff_t shift) {
    std::ptrdiff_t pairs = 0;
    std::ptrdiff_t fit = 0;
    for (std::ptrdiff_t i = 0; i < std::ssize(first); ++i) {
      const std::ptrdiff_t j = i + shift;
      if (j < 0 || j >= std::ssize(other)) continue;
      ++pairs;
      fit += may_belong_together(trace, first[static_cast<std::size_t>(i)], other[static_cast<std::size_t>(j)]) ? 1 : 0;
    }
    return std::tuple(fit, pairs);
  };
  std::optional<std::ptrdiff_t> best;
  std::ptrdiff_t most = 0;
  std::ptrdiff_t of = 0;
  const auto try_shift = [&](std::ptrdiff_t shift) {
    const auto [fit, pairs] = fitting(shift);
    if (fit <= most) return;
    best = shift;
    most = fit;
    of = pairs;
  };
  try_shift(0);
  if (best && 20 * most >= 19 * std::max(std::ssize(first), std::ssize(other))) return best;
  // Collectives of one stream do not overlap each other, so few of `other` meet the middle one.
  static constexpr std::ptrdiff_t kMaxTried = 8;
  const std::ptrdiff_t middle = std::ssize(first) / 2;
  std::ptrdiff_t tried = 0;
  for (std::ptrdiff_t j = 0; j < std::ssize(other) && tried < kMaxTried; ++j) {
    if (!may_belong_together(trace, first[static_cast<std::size_t>(middle)], other[static_cast<std::size_t>(j)]))
      continue;
    try_shift(j - middle);
    ++tried;
  }
  return best && 2 * most >= of ? best : std::nullopt;
}

using Groups = std::map<std::pair<std::string, std::size_t>, std::vector<Part>>;

/// By name of the process group and, within a rank, by stream: a group's collectives of one rank run on one stream.
Groups collect(const trace::Trace& trace, const StreamQueues& queues) {
  Groups groups;
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) {
    std::map<std::string, std::size_t> streams_of_name;
    for (std::uint32_t l = 0; l < trace.lanes().size(); ++l) {
      if (trace.lane({l}).rank.value != r) continue;
      std::map<std::string, std::vector<OperationId>> by_name;
      for (const OperationId op : queues.queue({l})) {
        if (trace.kind(op) != trace::OperationKind::kCollective) continue;
        // Point to point: two ranks of the group, not all, and not in one order.
        if (function_of(trace, op) == CollectiveFunction::kSendRecv) continue;
        const trace::CollectiveDetail* detail = trace.collective(op);
        by_name[detail == nullptr ? std::string() : std::string(trace.text(detail->group))].push_back(op);
      }
      for (auto& [name, works] : by_name) {
        groups[{name, streams_of_name[name]++}].push_back({{r}, std::move(works)});
      }
    }
  }
  return groups;
}

/// One row for each sequence number; none where they do not tell a rank's collectives apart, as of one that takes
/// several kernels.
std::optional<std::vector<MatchedCollective>> match_by_sequence(const trace::Trace& trace,
                                                                const std::vector<Part>& parts) {
  std::map<std::int64_t, MatchedCollective> rows;
  for (const Part& part : parts) {
    std::set<std::int64_t> of_part;
    for (const OperationId work : part.works) {
      const trace::CollectiveDetail* detail = trace.collective(work);
      if (detail == nullptr || !detail->sequence || !of_part.insert(*detail->sequence).second) return std::nullopt;
      rows[*detail->sequence].parts.push_back(work);
    }
  }
  std::vector<MatchedCollective> matches;
  matches.reserve(rows.size());
  for (auto& [sequence, row] : rows) matches.push_back(std::move(row));
  return matches;
}

std::vector<MatchedCollective> match_by_order(const trace::Trace& trace, std::vector<Part>& parts) {
  const std::vector<OperationId>& first = parts.front().works;
  std::vector<MatchedCollective> matches(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) matches[i].parts.push_back(first[i]);
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const std::vector<OperationId>& works = parts[p].works;
    const auto shift = find_shift(trace, first, works);
    if (!shift) continue;
    for (std::ptrdiff_t i = 0; i < std::ssize(first); ++i) {
      const std::ptrdiff_t j = i + *shift;
      if (j < 0 || j >= std::ssize(works)) continue;
      const OperationId mine = works[static_cast<std::size_t>(j)];
      if (!may_belong_together(trace, first[static_cast<std::size_t>(i)], mine)) continue;
      matches[static_cast<std::size_t>(i)].parts.push_back(mine);
    }
  }
  return matches;
}

/// Ranks in the group, as recorded: the fewest that one of its collectives says; none where none says.
std::optional<std::size_t> group_size_of(const trace::Trace& trace, const std::vector<Part>& parts) {
  std::optional<std::size_t> fewest;
  for (const Part& part : parts) {
    for (const OperationId work : part.works) {
      const trace::CollectiveDetail* detail = trace.collective(work);
      if (detail == nullptr || detail->group_size <= 0) continue;
      fewest = std::min(fewest.value_or(SIZE_MAX), static_cast<std::size_t>(detail->group_size));
    }
  }
  return fewest;
}

/// Whether nearly all collectives that two ranks would be joined by overlap in time.
bool run_together(const trace::Trace& trace, const Part& a, const Part& b) {
  std::vector<MatchedCollective> pairs;
  if (auto by_sequence = match_by_sequence(trace, {a, b})) {
    pairs = std::move(*by_sequence);
    std::erase_if(pairs, [](const MatchedCollective& pair) { return pair.parts.size() < 2; });
  } else {
    for (std::size_t i = 0; i < std::min(a.works.size(), b.works.size()); ++i) {
      pairs.push_back({{a.works[i], b.works[i]}});
    }
  }
  const auto together = std::ranges::count_if(
      pairs, [&](const MatchedCollective& pair) { return may_belong_together(trace, pair.parts[0], pair.parts[1]); });
  return together > 0 && 20 * together >= 19 * std::ssize(pairs);
}

/// One name may stand for several groups, none of which have a rank in common: PyTorch's split_group gave all of a
/// dimension one. Where more ranks have the name than are in its group, those that run at the same times are a group
/// each; such a set may be too large for one, where groups run side by side.
std::vector<std::vector<Part>> split_by_time(const trace::Trace& trace, std::vector<Part> parts) {
  std::vector<std::vector<Part>> groups;
  for (Part& part : parts) {
    std::vector<Part> joined;
    for (std::vector<Part>& group : groups) {
      if (!run_together(trace, group.front(), part)) continue;
      std::ranges::move(group, std::back_inserter(joined));
      group.clear();
    }
    std::erase_if(groups, [](const std::vector<Part>& group) { return group.empty(); });
    joined.push_back(std::move(part));
    groups.push_back(std::move(joined));
  }
  return groups;
}

std::size_t count_works(const std::vector<Part>& parts) {
  std::size_t works = 0;
  for (const Part& part : parts) works += part.works.size();
  return works;
}

/// Appends the matches of the ranks of one group. Returns how many of their collectives are in none.
std::size_t match_group(const trace::Trace& trace, std::vector<Part>& parts, std::vector<MatchedCollective>& all) {
  std::size_t left = count_works(parts);
  auto matches = match_by_sequence(trace, parts);
  if (!matches) matches = match_by_order(trace, parts);
  for (MatchedCollective& match : *matches) {
    if (match.parts.size() < 2) continue;
    left -= match.parts.size();
    all.push_back(std::move(match));
  }
  return left;
}

}  // namespace

std::vector<MatchedCollective> match_collectives(const trace::Trace& trace, const StreamQueues& queues,
                                                 Diagnostics& diagnostics) {
  std::vector<MatchedCollective> all;
  if (trace.ranks().size() < 2) return all;
  for (auto& [name, parts] : collect(trace, queues)) {
    if (parts.size() < 2) continue;
    const auto size = group_size_of(trace, parts);
    const bool is_shared = size && parts.size() > *size;
    std::vector<std::vector<Part>> groups;
    if (is_shared) {
      groups = split_by_time(trace, std::move(parts));
    } else {
      groups.push_back(std::move(parts));
    }
    std::size_t unmatched = 0;
    std::size_t ambiguous = 0;
    for (std::vector<Part>& group : groups) {
      const bool is_known = !is_shared || group.size() <= *size;
      (is_known ? unmatched : ambiguous) += is_known ? match_group(trace, group, all) : count_works(group);
    }
    diagnostics.count(kCollectiveUnmatched, name.first, static_cast<std::int64_t>(unmatched));
    diagnostics.count(kAmbiguousGroup, name.first, static_cast<std::int64_t>(ambiguous));
  }
  return all;
}

}  // namespace interlace::graph
