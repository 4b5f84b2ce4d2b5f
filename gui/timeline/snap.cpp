#include "gui/timeline/snap.hpp"

#include <algorithm>
#include <cstdlib>

namespace interlace::gui {

std::optional<Nanoseconds> nearest_edge(const trace::Trace& trace, const Lanes& lanes, std::span<const RowIndex> rows,
                                        Nanoseconds t, Nanoseconds within) {
  std::optional<Nanoseconds> nearest;
  const auto offer = [&](Nanoseconds edge) {
    const Nanoseconds distance = std::abs(edge - t);
    if (distance > within) return;
    if (!nearest || distance < std::abs(*nearest - t) || (distance == std::abs(*nearest - t) && edge < *nearest)) {
      nearest = edge;
    }
  };
  const auto start = [&](trace::OperationId op) { return trace.start(op); };
  const auto end = [&](trace::OperationId op) { return trace.end(op); };
  for (const RowIndex row : rows) {
    const std::vector<trace::OperationId>& operations = lanes.rows[row].operations;
    // Neither starts nor ends of a row ever go back, so that the nearest of each stands beside t.
    const auto next_start = std::ranges::lower_bound(operations, t, {}, start);
    if (next_start != operations.end()) offer(start(*next_start));
    if (next_start != operations.begin()) offer(start(*(next_start - 1)));
    const auto next_end = std::ranges::lower_bound(operations, t, {}, end);
    if (next_end != operations.end()) offer(end(*next_end));
    if (next_end != operations.begin()) offer(end(*(next_end - 1)));
  }
  return nearest;
}

}  // namespace interlace::gui
