#pragma once

#include <map>
#include <span>
#include <vector>

#include "simulator/base/units.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// From one work of a stream to the next that was queued in time (ns), where the recording does not tell.
inline constexpr double kUsualDispatchGap = 1'500;

/// A work that was queued behind another one of its stream before that had ended.
struct QueuedStart {
  SiteId site;
  trace::LaneId lane;
  trace::RankId rank;
  Nanoseconds free = 0;  ///< the work before it ended
  Nanoseconds gap = 0;   ///< until it started
};

/// What a recording shows of the queues through which a GPU fetches the commands of its streams. There are two. While
/// one stream of a queue has unfinished work, the device keeps turning to it, and fetches the next command of another
/// one anew when that is due: over PCIe, and behind what a copy from the host has asked for. A waiting stream so delays
/// each work of another one by a microsecond, beside such a copy by four and more. Which streams share a queue is the
/// driver's choice (docs/contention.md, docs/benchmarks/placement).
struct CommandQueues {
  std::map<trace::LaneId, double> with_main;  ///< of side streams that show it: how often they share the main one's
  std::vector<bool> undelayed;                ///< by start: hardly any stream can have delayed it
  std::map<trace::LaneId, double> late_ns;    ///< of side streams that share the main one's: what works were late for
                                              ///< that, theirs and the main stream's
};

/// `main_lanes`: by rank, the stream of the optimizer.
[[nodiscard]] CommandQueues command_queues(const trace::Trace& trace, const SiteTable& table,
                                           std::span<const QueuedStart> starts,
                                           const std::map<trace::RankId, trace::LaneId>& main_lanes);

}  // namespace interlace::replay
