#include "simulator/replay/left_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "simulator/base/statistics.hpp"

namespace interlace::replay {

namespace {

/// Of one communicator.
std::size_t collectives_in(const RecordedIteration& iteration, std::uint32_t communicator, const SiteTable& table) {
  return static_cast<std::size_t>(std::ranges::count_if(iteration.works, [&](const RecordedWork& work) {
    const Site& site = table.sites[work.site.index()];
    return site.kind == WorkKind::kCollective && site.communicator == communicator;
  }));
}

/// Where ranks that meet issue different numbers: which, in words.
std::optional<std::string> difference_in(std::uint32_t iteration, const SiteTable& table) {
  for (std::uint32_t c = 0; c < table.communicators.size(); ++c) {
    const Members& members = table.communicators[c];
    const std::size_t first = collectives_in(table.ranks[members.front()][iteration], c, table);
    for (const std::uint32_t r : members) {
      const std::size_t count = collectives_in(table.ranks[r][iteration], c, table);
      if (count == first) continue;
      return fmt::format("iteration {}: {} collectives on rank {}, {} on rank {}", iteration, first,
                         table.rank_numbers[members.front()], count, table.rank_numbers[r]);
    }
  }
  return std::nullopt;
}

Nanoseconds longest_host_time(const stages::Cut& cut, std::uint32_t iteration) {
  Nanoseconds longest = 0;
  for (const stages::RankCut& rank : cut.ranks) longest = std::max(longest, rank.iterations[iteration].host.length());
  return longest;
}

Nanoseconds recorded_step(const stages::Cut& cut, const std::set<std::uint32_t>& left_out) {
  std::vector<double> steps;
  for (const stages::RankCut& rank : cut.ranks) {
    for (std::uint32_t i = 0; i < rank.iterations.size(); ++i) {
      if (!left_out.contains(i)) steps.push_back(static_cast<double>(rank.iterations[i].host.length()));
    }
  }
  return steps.empty() ? 0 : static_cast<Nanoseconds>(statistics::mean(steps));
}

}  // namespace

void leave_out_iterations(const stages::Cut& cut, SiteTable& table, Diagnostics& diagnostics) {
  std::vector<double> times;
  for (std::uint32_t i = 0; i < cut.iterations(); ++i) {
    times.push_back(static_cast<double>(longest_host_time(cut, i)));
    const auto difference = difference_in(i, table);
    if (!difference) continue;
    table.left_out.insert(i);
    table.difference = table.difference.value_or(*difference);
    diagnostics.count(kUnmatchedIterations, *difference);
  }
  const std::vector<bool> stalled = statistics::stalls(times);
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    if (!stalled[i] || !table.left_out.insert(i).second) continue;
    diagnostics.count(kStalledIterations, fmt::format("iteration {}: {:.1f} ms, {:.1f} in the median", i,
                                                      times[i] / 1e6, statistics::median(times) / 1e6));
  }
  table.step_ns = recorded_step(cut, table.left_out);
}

}  // namespace interlace::replay
