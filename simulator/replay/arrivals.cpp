#include "simulator/replay/arrivals.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace interlace::replay {

using trace::OperationId;

Arrivals last_arrivals(const trace::Trace& trace, const SiteTable& table) {
  struct Gathering {
    Nanoseconds last = 0;
    std::vector<OperationId> instances;
  };
  std::map<std::pair<SiteId, std::size_t>, Gathering> gatherings;  // of a site, in an iteration
  for (const std::vector<RecordedIteration>& iterations : table.ranks) {
    for (std::size_t k = 0; k < iterations.size(); ++k) {
      for (const RecordedWork& work : iterations[k].works) {
        if (!work.work || table.sites[work.site.index()].kind != WorkKind::kCollective) continue;
        Gathering& gathering = gatherings[{work.site, k}];
        const Nanoseconds start = trace.start(*work.work);
        gathering.last = gathering.instances.empty() ? start : std::max(gathering.last, start);
        gathering.instances.push_back(*work.work);
      }
    }
  }
  Arrivals arrivals;
  for (const auto& [at, gathering] : gatherings) {
    for (const OperationId op : gathering.instances) arrivals.emplace(op, gathering.last);
  }
  return arrivals;
}

}  // namespace interlace::replay
