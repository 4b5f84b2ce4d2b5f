#include "simulator/replay/host_disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "simulator/base/statistics.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

namespace {

using Thread = double UndisturbedHost::*;

Thread thread_of(const stages::SegmentKey& segment) {
  return segment.stage == schedule::Stage::kBackward ? &UndisturbedHost::autograd : &UndisturbedHost::loop;
}

double host_time(const RecordedIteration& iteration, Thread thread) {
  double sum = 0;
  for (const RecordedCall& call : iteration.calls) {
    if (thread_of(call.segment) == thread) sum += static_cast<double>(call.gap + call.duration);
  }
  return sum;
}

}  // namespace

double UndisturbedHost::part(const stages::SegmentKey& segment) const { return this->*thread_of(segment); }

std::vector<UndisturbedHost> undisturbed_hosts(const SiteTable& table, Diagnostics& diagnostics) {
  std::vector<UndisturbedHost> hosts(table.ranks.size());
  for (const Thread thread : {&UndisturbedHost::loop, &UndisturbedHost::autograd}) {
    std::vector<double> usual;
    for (const std::vector<RecordedIteration>& rank : table.ranks) {
      std::vector<double> times;
      for (std::uint32_t i = 0; i < rank.size(); ++i) {
        if (!table.left_out.contains(i)) times.push_back(host_time(rank[i], thread));
      }
      if (times.empty()) return hosts;
      usual.push_back(statistics::median(times));
    }
    const double quickest = usual.empty() ? 0 : *std::ranges::min_element(usual);
    for (std::size_t r = 0; r < hosts.size(); ++r) {
      if (quickest <= 0 || usual[r] <= kUnevenHosts * quickest) continue;
      hosts[r].*thread = kUnevenHosts * quickest / usual[r];
      diagnostics.count(kDisturbedHost,
                        fmt::format("rank {}, thread of {}: {:.2f} times the quickest", r,
                                    thread == &UndisturbedHost::loop ? "the loop" : "autograd", usual[r] / quickest));
    }
  }
  return hosts;
}

}  // namespace interlace::replay
