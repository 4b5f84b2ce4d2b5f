#pragma once

#include "engine/workload/workload.hpp"
#include "simulator/base/error.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kWorkloadMismatch{"engine.workload_mismatch"};

/// Throws engine.workload_mismatch where the schedule runs what the workload lacks, or leaves out what it has, and
/// engine.unsupported_stage where a stand-in for other work names what it cannot touch. With feature processors also as
/// require_ordered_processors().
void check_fit(const schedule::Schedule& schedule, const Workload& workload);

}  // namespace interlace::engine
