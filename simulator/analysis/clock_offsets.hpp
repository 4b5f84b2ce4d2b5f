#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/graph/process_groups.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::analysis {

/// What the clock of a host shows against that of the trace's first host.
struct HostClock {
  std::string host;
  std::vector<trace::RankId> ranks;
  Nanoseconds offset = 0;        ///< to add to the host's times
  Nanoseconds residual = 0;      ///< the true offset is at most this far from it, while the clocks ran alike
  std::int64_t collectives = 0;  ///< that it is known by; 0 of a host that shares none: then the offset is unknown
  /// False where no one offset fits all collectives: the clocks drifted apart by up to twice the residual.
  bool is_steady = true;
};

/// The clocks of the hosts that the ranks of a trace ran on, the first first. A rank without a host name, as PyTorch's
/// profiler leaves it, is taken to be on the first host whose clock its collectives do not contradict, else on one of
/// its own.
///
/// No rank can end a collective that waits for all of them before the last has begun it: each collective of a rank here
/// and a rank there bounds the offset from both sides, and all together leave the interval whose middle is given. The
/// k-th of a kernel's runs in a stream belongs to the k-th on the other ranks; where numbers of runs differ, as in
/// recordings that do not begin alike, those runs are not used. Broadcasts and point-to-point transfers bind one
/// direction only and are not used. groups: of the trace. O(n).
[[nodiscard]] std::vector<HostClock> host_clocks(const trace::Trace& trace, const graph::ProcessGroups& groups);

/// Counts the ranks that cannot have had the first rank's clock (trace.clocks_differ).
void count_differing_clocks(const trace::Trace& trace, const graph::ProcessGroups& groups, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kClocksDiffer{
    "trace.clocks_differ", Severity::kWarning,
    "ranks that by the recorded times end a collective before the first rank begins it, or the other way round",
    "waits between ranks are off by as much: where they ran on other hosts, align their clocks with `interlace merge`; "
    "else see that all recorded the same steps"};

}  // namespace interlace::analysis
