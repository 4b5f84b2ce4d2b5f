#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

inline constexpr ErrorCode kCollectivesDiffer{"replay.collectives_differ"};

/// Names the recorded iterations that are not replayed (SiteTable::left_out), and takes the recorded step from the
/// others: those whose ranks issue different numbers of collectives, of which some were not recorded (ranks would wait
/// for each other for ever), and those that take more than twice the median, where there are enough to tell: the host
/// stood still for once. Counts replay.unmatched_iterations and replay.stalled_iterations.
void leave_out_iterations(const stages::Cut& cut, SiteTable& table, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kUnmatchedIterations{
    "replay.unmatched_iterations", Severity::kWarning,
    "iterations in which ranks issue different numbers of collectives, since some were not recorded; not replayed",
    "record again, with larger profiler buffers or fewer steps"};
inline constexpr DiagnosticKind kStalledIterations{
    "replay.stalled_iterations", Severity::kInfo,
    "iterations that took more than twice as long as the median one; not replayed, and in no recorded mean",
    "none needed where a host stood still for once (collecting garbage, say); where kernels took as long "
    "(replay.changing_kernels), see why"};

}  // namespace interlace::replay
