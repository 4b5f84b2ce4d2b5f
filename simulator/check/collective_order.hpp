#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/check/schedule_check.hpp"

namespace interlace::check {

/// What one rank of a job runs.
struct RankPlan {
  const schedule::Schedule* schedule = nullptr;
  std::optional<std::int64_t> batches;  ///< none: as many as it takes to reach the steady state of all
};

/// Compares the collectives that ranks issue, one by one in the order of the host, which is the order in which the one
/// communicator runs them. Gives the first difference of each rank from rank 0: another collective (the ranks exchange
/// data that does not belong together, or hang), or none any more (the others wait for ever). Two ranks at least.
///
/// That is all that can deadlock: where all ranks issue the same collectives in one order, each of them is reached by
/// all, since a stream or host only ever waits for what was queued before.
[[nodiscard]] std::vector<Hazard> compare_collectives(const std::vector<RankPlan>& ranks, const CheckOptions& options);

}  // namespace interlace::check
