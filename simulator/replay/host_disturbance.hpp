#pragma once

#include <vector>

#include "simulator/base/diagnostics.hpp"
#include "simulator/stages/segment.hpp"

namespace interlace::replay {

struct SiteTable;

/// What part of the recorded time a rank's host threads would have taken undisturbed.
struct UndisturbedHost {
  double loop = 1.0;      ///< the thread that runs the training loop
  double autograd = 1.0;  ///< backward runs on a thread of its own

  [[nodiscard]] double part(const stages::SegmentKey& segment) const;
};

/// A thread that took more than so many times as long as the same thread of the quickest rank shared its core with
/// something else. Of 157 recordings (18 TorchRec jobs, 34 campaigns of the engine) half have their ranks within 1.03
/// to 1.11 of each other, nine tenths within 1.18 to 1.35, and four at 1.8 to 2.0.
inline constexpr double kUnevenHosts = 1.2;

/// By rank. All ranks run one program, and which of them has to share a core is luck of the recorded process, not a
/// property of the job: threads beyond kUnevenHosts are taken to be that much slower than the quickest. Reckoned from
/// medians over the iterations of `table` that are replayed. Counts replay.disturbed_host.
[[nodiscard]] std::vector<UndisturbedHost> undisturbed_hosts(const SiteTable& table, Diagnostics& diagnostics);

inline constexpr DiagnosticKind kDisturbedHost{
    "replay.disturbed_host", Severity::kInfo,
    "host threads that took more than 1.2 times as long as on the quickest rank; predictions take them to be that much "
    "slower and no more",
    "none needed; where a rank's host is slow for good, say what the recorded schedule takes (--measured-step-ms)"};

}  // namespace interlace::replay
