#pragma once

#include <optional>
#include <span>

#include "gui/timeline/lanes.hpp"

namespace interlace::gui {

/// The start or end of an operation of these rows that is nearest to t, the earlier of equals; none further than
/// `within` away. O(rows * log n).
[[nodiscard]] std::optional<Nanoseconds> nearest_edge(const Lanes& lanes, std::span<const RowIndex> rows, Nanoseconds t,
                                                      Nanoseconds within);

}  // namespace interlace::gui
