#pragma once

#include <vector>

#include "simulator/check/findings.hpp"

namespace interlace::check {

/// How many updates each stage misses that reads tables or dense parameters, in the steady state. A synchronous loop
/// has applied the updates of all batches below b when it reads for batch b. Follows the order of the host, which is
/// that of the device where nothing clashes. Stages in the order of the schedule; nothing where nothing is updated.
[[nodiscard]] std::vector<Staleness> staleness_of(const Program& program);

/// Whether tables and dense parameters become what a synchronous loop makes of them: no stale read, and each optimizer
/// step with the gradients of its own batch and of no other. `hazards`: any are left.
[[nodiscard]] Numerics numerics_of(const Program& program, const std::vector<Staleness>& staleness, bool hazards);

}  // namespace interlace::check
