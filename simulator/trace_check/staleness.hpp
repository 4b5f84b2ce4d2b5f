#pragma once

#include <vector>

#include "simulator/trace_check/accesses.hpp"
#include "simulator/trace_check/trace_check.hpp"

namespace interlace::trace_check {

/// How old were the tables that lookups read, and the dense parameters that forwards read: of the updates that a
/// synchronous loop would have applied before, how many had not been launched. Reads before the first recorded update
/// tell nothing.
[[nodiscard]] std::vector<TraceStaleness> staleness_of(const StagedWork& staged, const Accesses& accesses);

}  // namespace interlace::trace_check
