#pragma once

#include <map>

#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// When the last rank came to each collective: until then it waited, from then on it moved data.
using Arrivals = std::map<trace::OperationId, Nanoseconds>;

/// Of all that belong to the table's iterations.
[[nodiscard]] Arrivals last_arrivals(const trace::Trace& trace, const SiteTable& table);

}  // namespace interlace::replay
