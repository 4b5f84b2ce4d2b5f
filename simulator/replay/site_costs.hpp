#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/replay/sites.hpp"

namespace interlace::replay {

/// Fills in what each site costs without company (alone_ns, dispatch_gap_ns) and the launch latency of the table, from
/// all instances that were recorded:
/// - kernels are first freed of the collectives that ran beside them (contention/slowdown.hpp); then the least of all
///   instances counts for compute-bound kernels and for those on side streams (company only ever delays them), the
///   median for the others;
/// - a collective takes from the last arrival of a rank to the last end;
/// - copies and fills take the median.
/// `machine` is what is known of the machine beside the recording.
void estimate_costs(const trace::Trace& trace, SiteTable& table, Diagnostics& diagnostics,
                    const contention::MachineProfile& machine);

inline constexpr DiagnosticKind kCollectiveWithoutPeers{
    "replay.collective_without_peers", Severity::kWarning,
    "collectives of which not all ranks are recorded: waiting for peers cannot be told from transfer",
    "give the traces of all ranks"};

}  // namespace interlace::replay
