#include "gui/timeline/snap.hpp"

#include <algorithm>
#include <cstdlib>

namespace interlace::gui {

std::optional<Nanoseconds> nearest_edge(const Lanes& lanes, std::span<const RowIndex> rows, Nanoseconds t,
                                        Nanoseconds within) {
  std::optional<Nanoseconds> nearest;
  const auto offer = [&](Nanoseconds edge) {
    const Nanoseconds distance = std::abs(edge - t);
    if (distance > within) return;
    if (!nearest || distance < std::abs(*nearest - t) || (distance == std::abs(*nearest - t) && edge < *nearest)) {
      nearest = edge;
    }
  };
  for (const RowIndex row : rows) {
    const std::vector<Interval>& spans = lanes.rows[row].spans;
    // Neither starts nor ends of a row ever go back, so that the nearest of each stands beside t.
    const auto next_start = std::ranges::lower_bound(spans, t, {}, &Interval::begin);
    if (next_start != spans.end()) offer(next_start->begin);
    if (next_start != spans.begin()) offer((next_start - 1)->begin);
    const auto next_end = std::ranges::lower_bound(spans, t, {}, &Interval::end);
    if (next_end != spans.end()) offer(next_end->end);
    if (next_end != spans.begin()) offer((next_end - 1)->end);
  }
  return nearest;
}

}  // namespace interlace::gui
