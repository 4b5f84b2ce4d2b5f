#pragma once

#include <string_view>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::memory {

/// The ranges of a rank that have this name, by start.
[[nodiscard]] std::vector<Interval> named_ranges(const trace::Trace& trace, trace::RankId rank, std::string_view name);

}  // namespace interlace::memory
