#include "simulator/replay/gatherings.hpp"

#include <algorithm>

namespace interlace::replay {

Gatherings gatherings_in(const trace::Trace& trace, const SiteTable& table) {
  Gatherings gatherings;
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    for (std::size_t k = 0; k < table.ranks[r].size(); ++k) {
      for (const RecordedWork& work : table.ranks[r][k].works) {
        if (!work.work || table.sites[work.site.index()].kind != WorkKind::kCollective) continue;
        Gathering& gathering = gatherings[work.site][k];
        const Nanoseconds end = trace.end(*work.work);
        gathering.last_start = std::max(gathering.last_start, trace.start(*work.work));
        gathering.last_end = std::max(gathering.last_end, end);
        gathering.parts.push_back({r, *work.work, end});
      }
    }
  }
  return gatherings;
}

Arrivals last_arrivals(const Gatherings& gatherings) {
  Arrivals arrivals;
  for (const auto& [site, of_site] : gatherings) {
    for (const auto& [iteration, gathering] : of_site) {
      for (const Gathering::Part& part : gathering.parts) arrivals.emplace(part.op, gathering.last_start);
    }
  }
  return arrivals;
}

}  // namespace interlace::replay
