#pragma once

#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"

namespace interlace::replay {

/// Learns from a replay of the recorded schedule how many waits stood in front of each work there, and how many streams
/// waited meanwhile (Site::delays), which tells races under others apart (RaceOdds::kernel_first).
/// Returns the mean step (ns) of that replay, at the recorded pace.
double learn_delays(const stages::Cut& cut, const schedule::Schedule& recorded, SiteTable& table);

}  // namespace interlace::replay
