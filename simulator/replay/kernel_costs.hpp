#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/contention/machine_profile.hpp"
#include "simulator/replay/gatherings.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// Fills in what kernels, copies and fills cost without company, and how collectives slow kernels. Counts
/// replay.changing_kernels (changing_kernels.hpp).
void estimate_kernels(const trace::Trace& trace, const Gatherings& gatherings, SiteTable& table,
                      const contention::MachineProfile& machine, Diagnostics& diagnostics);

}  // namespace interlace::replay
