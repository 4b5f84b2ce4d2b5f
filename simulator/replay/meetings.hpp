#pragma once

#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// Learns from the recording who was first where a collective and a kernel became ready together: fills `Site::races`
/// of every collective. A meeting counts where both were queued early and the kernel followed at once, or would have;
/// behind a collective also only where the kernel's stream had stood still, and where a collective that came second ran
/// before the kernel had ended (else it waited for that kernel). Each rank's meetings count by themselves: behind a
/// kernel ranks agree no more often than by chance (docs/contention.md).
void learn_races(const trace::Trace& trace, SiteTable& table);

}  // namespace interlace::replay
