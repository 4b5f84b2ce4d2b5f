#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// Fills in what each site costs without company (alone_ns, dispatch_gap_ns) and the launch latency of the table, from
/// all instances that were recorded:
/// - kernels are first freed of the collectives that ran beside them (contention/slowdown.hpp); then the shortest
///   instance counts on side streams, where company delays most, elsewhere those without other company or the lower
///   part; of each rank by itself where it shows the kernel so (kernel_costs.cpp);
/// - a collective takes from the last arrival of a rank to the last end;
/// - copies and fills take the median, large copies within device memory what they do at the pace of the quickest.
/// `machine` is what is known of the machine beside the recording.
void estimate_costs(const trace::Trace& trace, SiteTable& table, Diagnostics& diagnostics,
                    const contention::MachineProfile& machine);

inline constexpr DiagnosticKind kCollectiveWithoutPeers{
    "replay.collective_without_peers", Severity::kWarning,
    "collectives of which not all ranks are recorded: waiting for peers cannot be told from transfer",
    "give the traces of all ranks"};

}  // namespace interlace::replay
