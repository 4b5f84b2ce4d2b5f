#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/contention/machine_profile.hpp"
#include "simulator/replay/gatherings.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Fills in what each collective costs without company, which way collectives go, and what they and host copies take
/// from each other there. Counts replay.collective_without_peers (site_costs.hpp).
void estimate_collectives(const trace::Trace& trace, const Gatherings& gatherings, SiteTable& table,
                          const contention::MachineProfile& machine, Diagnostics& diagnostics);

}  // namespace interlace::replay
