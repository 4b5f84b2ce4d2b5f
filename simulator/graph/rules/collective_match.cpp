#include "simulator/graph/rules/collective_match.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "simulator/graph/rules/collective_order.hpp"
#include "simulator/graph/rules/rules.hpp"
#include "simulator/graph/streams_of_rank.hpp"

namespace interlace::graph {

using trace::OperationId;

namespace {

/// The collectives of one group on one rank, as queued.
struct Part {
  trace::RankId rank;
  std::vector<OperationId> works;
};

/// The parts of a process group by stream: those on the k-th stream of each rank that runs collectives of the group.
using Streams = std::map<std::size_t, std::vector<Part>>;

/// By process group.
std::vector<Streams> collect(const trace::Trace& trace, const StreamQueues& queues, const ProcessGroups& groups) {
  std::vector<Streams> of_groups(groups.all().size());
  for (std::uint32_t r = 0; r < trace.ranks().size(); ++r) {
    std::map<std::size_t, std::size_t> streams;
    for (const trace::LaneId stream : streams_of_rank(trace, {r})) {
      std::map<std::size_t, std::vector<OperationId>> here;
      for (const OperationId op : queues.queue(stream)) {
        const auto group = groups.of(op);
        if (group && is_of_all_ranks(trace, op)) here[*group].push_back(op);
      }
      for (auto& [group, works] : here) of_groups[group][streams[group]++].push_back({{r}, std::move(works)});
    }
  }
  return of_groups;
}

/// One row for each sequence number; none where they do not tell a rank's collectives apart.
std::optional<std::vector<MatchedCollective>> match_by_sequence(const trace::Trace& trace,
                                                                const std::vector<Part>& parts) {
  std::map<std::int64_t, MatchedCollective> rows;
  for (const Part& part : parts) {
    const auto numbered = by_sequence(trace, part.works);
    if (!numbered) return std::nullopt;
    for (const auto& [sequence, work] : *numbered) rows[sequence].parts.push_back(work);
  }
  std::vector<MatchedCollective> matches;
  matches.reserve(rows.size());
  for (auto& [sequence, row] : rows) matches.push_back(std::move(row));
  return matches;
}

std::vector<MatchedCollective> match_by_order(const trace::Trace& trace, const std::vector<Part>& parts) {
  const std::vector<OperationId>& first = parts.front().works;
  std::vector<MatchedCollective> matches(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) matches[i].parts.push_back(first[i]);
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const std::vector<OperationId>& works = parts[p].works;
    const auto beside = align(trace, first, works);
    if (!beside) continue;
    for (std::ptrdiff_t i = 0; i < std::ssize(first); ++i) {
      const std::ptrdiff_t j = i + beside->shift;
      if (j < 0 || j >= std::ssize(works)) continue;
      const OperationId mine = works[static_cast<std::size_t>(j)];
      if (!may_belong_together(trace, first[static_cast<std::size_t>(i)], mine)) continue;
      matches[static_cast<std::size_t>(i)].parts.push_back(mine);
    }
  }
  return matches;
}

/// The ranks' parts on all streams.
std::vector<Part> on_all_streams(const Streams& streams) {
  std::map<trace::RankId, std::vector<OperationId>> of_ranks;
  for (const auto& [stream, parts] : streams) {
    for (const Part& part : parts) std::ranges::copy(part.works, std::back_inserter(of_ranks[part.rank]));
  }
  std::vector<Part> all;
  for (auto& [rank, works] : of_ranks) all.push_back({rank, std::move(works)});
  return all;
}

/// Of one group. Numbers tell what belongs together whatever streams it ran on; without them, what follows each other
/// on the same one.
std::vector<MatchedCollective> match_group(const trace::Trace& trace, const std::vector<Part>& parts,
                                           const Streams& streams) {
  if (auto matches = match_by_sequence(trace, parts)) return std::move(*matches);
  std::vector<MatchedCollective> all;
  for (const auto& [stream, of_stream] : streams) {
    auto matches = match_by_sequence(trace, of_stream);
    if (!matches) matches = match_by_order(trace, of_stream);
    std::ranges::move(*matches, std::back_inserter(all));
  }
  return all;
}

std::ptrdiff_t collectives_in(const std::vector<Part>& parts) {
  std::ptrdiff_t all = 0;
  for (const Part& part : parts) all += std::ssize(part.works);
  return all;
}

}  // namespace

std::vector<MatchedCollective> match_collectives(const trace::Trace& trace, const StreamQueues& queues,
                                                 const ProcessGroups& groups, Diagnostics& diagnostics) {
  std::vector<MatchedCollective> all;
  if (trace.ranks().size() < 2) return all;
  const std::vector<Streams> of_groups = collect(trace, queues, groups);
  for (std::size_t g = 0; g < of_groups.size(); ++g) {
    const ProcessGroup& group = groups.all()[g];
    if (group.is_ambiguous) continue;
    const std::vector<Part> parts = on_all_streams(of_groups[g]);
    if (parts.size() < 2) continue;
    std::int64_t unmatched = collectives_in(parts);
    for (MatchedCollective& match : match_group(trace, parts, of_groups[g])) {
      if (match.parts.size() < 2) continue;
      unmatched -= std::ssize(match.parts);
      all.push_back(std::move(match));
    }
    diagnostics.count(kCollectiveUnmatched, group.name, unmatched);
  }
  return all;
}

}  // namespace interlace::graph
