#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// One collective as all ranks took part in it.
struct Gathering {
  struct Part {
    std::size_t rank = 0;
    trace::OperationId op;
    Nanoseconds end = 0;
  };
  Nanoseconds last_start = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds last_end = std::numeric_limits<Nanoseconds>::min();
  std::vector<Part> parts;

  /// While it moved data.
  [[nodiscard]] Interval span() const { return {last_start, last_end}; }
};

using GatheringsOfSite = std::map<std::size_t, Gathering>;  ///< by iteration
using Gatherings = std::map<SiteId, GatheringsOfSite>;

/// Of all collectives of the table's iterations.
[[nodiscard]] Gatherings gatherings_in(const trace::Trace& trace, const SiteTable& table);

/// When the last rank came to each collective: until then it waited, from then on it moved data.
using Arrivals = std::map<trace::OperationId, Nanoseconds>;
[[nodiscard]] Arrivals last_arrivals(const Gatherings& gatherings);

}  // namespace interlace::replay
