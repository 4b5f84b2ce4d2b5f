#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "simulator/explain/step_paths.hpp"

namespace interlace::explain {

/// Positions of elements that two paths have in common, in the order of both: the selection whose common time (the
/// smaller of both totals) is largest. O(a * b) time, a byte for each pair of memory.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> common_elements(const StepPath& a, const StepPath& b);

}  // namespace interlace::explain
