#include "simulator/replay/host_disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

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

/// What part of a time lies within a limit; all of it where there is none (0).
double part_within(double time, double limit) { return limit > 0 && time > limit ? limit / time : 1.0; }

}  // namespace

double UndisturbedHost::part(const stages::SegmentKey& segment) const { return this->*thread_of(segment); }

std::vector<std::vector<UndisturbedHost>> undisturbed_hosts(const SiteTable& table, Diagnostics& diagnostics) {
  std::vector<std::vector<UndisturbedHost>> hosts;
  for (const std::vector<RecordedIteration>& rank : table.ranks) hosts.emplace_back(rank.size());
  for (const Thread thread : {&UndisturbedHost::loop, &UndisturbedHost::autograd}) {
    const std::string name = thread == &UndisturbedHost::loop ? "the loop" : "autograd";
    std::vector<double> usual;
    for (std::size_t r = 0; r < hosts.size(); ++r) {
      std::vector<double> times;
      for (std::uint32_t i = 0; i < hosts[r].size(); ++i) {
        if (!table.left_out.contains(i)) times.push_back(host_time(table.ranks[r][i], thread));
      }
      if (times.empty()) return hosts;
      usual.push_back(statistics::median(times));
    }
    const double quickest = usual.empty() ? 0 : *std::ranges::min_element(usual);
    for (std::size_t r = 0; r < hosts.size(); ++r) {
      const double of_rank = part_within(usual[r], kUnevenHosts * quickest);
      if (of_rank < 1.0) {
        diagnostics.count(kDisturbedHost, fmt::format("rank {}, thread of {}: {:.2f} times the quickest",
                                                      table.rank_numbers[r], name, usual[r] / quickest));
      }
      for (std::uint32_t i = 0; i < hosts[r].size(); ++i) {
        const double time = host_time(table.ranks[r][i], thread);
        const double of_iteration = part_within(time, kUnevenIterations * usual[r]);
        hosts[r][i].*thread = of_rank * of_iteration;
        if (of_iteration == 1.0 || table.left_out.contains(i)) continue;
        diagnostics.count(kDisturbedIteration,
                          fmt::format("rank {}, iteration {}, thread of {}: {:.1f} ms, {:.1f} in the median",
                                      table.rank_numbers[r], i, name, time / 1e6, usual[r] / 1e6));
      }
    }
  }
  return hosts;
}

}  // namespace interlace::replay
