#include "simulator/replay/devices_of_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace interlace::replay {

namespace {

/// Device works in the iterations of a rank, by the device that they ran on.
std::map<std::int64_t, std::int64_t> works_by_device(const trace::Trace& trace, const stages::RankCut& rank) {
  std::map<std::int64_t, std::int64_t> works;
  for (const stages::Iteration& iteration : rank.iterations) {
    for (const stages::Item& item : iteration.items) {
      for (const trace::OperationId work : trace.launched_by(item.call))
        ++works[trace.lane(trace.lane_of(work)).process];
    }
  }
  return works;
}

}  // namespace

void count_other_devices(const trace::Trace& trace, const stages::Cut& cut, Diagnostics& diagnostics) {
  for (const stages::RankCut& rank : cut.ranks) {
    const std::map<std::int64_t, std::int64_t> works = works_by_device(trace, rank);
    if (works.size() < 2) continue;
    std::int64_t all = 0;
    std::int64_t most = 0;
    for (const auto& [device, count] : works) {
      all += count;
      most = std::max(most, count);
    }
    const std::string where =
        fmt::format("rank {}: work on {} devices", trace.ranks()[rank.rank.index()].number, works.size());
    diagnostics.count(kSeveralDevices, where, all - most);
  }
}

}  // namespace interlace::replay
