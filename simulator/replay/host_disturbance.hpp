#pragma once

#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/stages/segment.hpp"

namespace interlace::replay {

struct SiteTable;

/// What part of the recorded time a rank's host threads would have taken undisturbed in an iteration.
struct UndisturbedHost {
  double loop = 1.0;      ///< the thread that runs the training loop
  double autograd = 1.0;  ///< backward runs on a thread of its own

  [[nodiscard]] double part(const stages::SegmentKey& segment) const;
};

/// A thread that took more than so many times as long as the same thread of the quickest rank shared its core with
/// something else. Of 157 recordings (18 TorchRec jobs, 34 campaigns of the engine) half have their ranks within 1.03
/// to 1.11 of each other, nine tenths within 1.18 to 1.35, and four at 1.8 to 2.0.
inline constexpr double kUnevenHosts = 1.2;

/// An iteration in which a thread took more than so many times as long as it mostly did shows a machine that was busy
/// with something else. Of 101 recordings 97 have none beyond 1.64 times; in three of one machine all threads of all
/// ranks took 2 to 6 times as long for 50 ms, which sparse_dist hides, so that base came out 8 % too long.
inline constexpr double kUnevenIterations = 1.5;

/// By rank and iteration. All ranks run one program, and which of them has to share a core is luck of the recorded
/// process, not a property of the job: threads beyond kUnevenHosts are taken to be that much slower than the quickest,
/// and iterations beyond kUnevenIterations that much slower than the rank's median. Reckoned from the iterations of
/// `table` that are replayed. Counts replay.disturbed_host and replay.disturbed_iteration.
[[nodiscard]] std::vector<std::vector<UndisturbedHost>> undisturbed_hosts(const SiteTable& table,
                                                                          Diagnostics& diagnostics);

inline constexpr DiagnosticKind kDisturbedHost{
    "replay.disturbed_host", Severity::kInfo,
    "host threads that took more than 1.2 times as long as on the quickest rank; predictions take them to be that much "
    "slower and no more (--under-recorder: as recorded)",
    "none needed; where a rank's host is slow for good, say what the recorded schedule takes (--measured-step-ms)"};

inline constexpr DiagnosticKind kDisturbedIteration{
    "replay.disturbed_iteration", Severity::kInfo,
    "recorded steps in which a host thread took more than 1.5 times as long as it mostly did; predictions take it to "
    "be that much slower there and no more (--under-recorder: as recorded)",
    "none needed; see what else ran on the machine"};

}  // namespace interlace::replay
