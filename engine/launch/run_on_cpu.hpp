#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/cpu/cluster.hpp"
#include "engine/launch/train.hpp"

namespace interlace::engine {

/// Makes the batches of a rank.
using MakeSource = std::function<std::unique_ptr<BatchSource>(const Workload&, Device&, int rank)>;

/// Trains on workload.ranks ranks as threads of this process. Throws the first failure of any rank, when all have
/// ended. source: none: SyntheticBatches.
[[nodiscard]] std::vector<RankResult> run_on_cpu(const schedule::Schedule& schedule, const Workload& workload,
                                                 const cpu::CpuOptions& options, const MakeSource& source = {},
                                                 const TrainOptions& training = {});

/// What the hosts read inside stages when work runs as soon as it can: for CpuOptions::foreseen. It hangs on the data
/// and the order of the stages, not on waits. options: how to run otherwise, and when it hangs; their seed is not used.
/// Throws as run_on_cpu().
[[nodiscard]] cpu::HostReads host_reads_of(const schedule::Schedule& schedule, const Workload& workload,
                                           cpu::CpuOptions options = {});

}  // namespace interlace::engine
