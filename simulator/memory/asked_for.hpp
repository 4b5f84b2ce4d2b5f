#pragma once

#include <algorithm>

#include "simulator/trace/limits.hpp"
#include "simulator/trace/operation.hpp"

namespace interlace::memory {

/// What the program asked for, as far as the recording tells; no machine can serve more than the most.
[[nodiscard]] inline Bytes asked_for(const trace::AllocationDetail& detail) {
  return std::min(detail.requested.value_or(detail.bytes), trace::kLargestAmount);
}

}  // namespace interlace::memory
