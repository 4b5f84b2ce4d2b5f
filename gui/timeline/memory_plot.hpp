#pragma once

#include <QPainter>
#include <cstddef>
#include <optional>
#include <vector>

#include "gui/theme/theme.hpp"
#include "gui/timeline/viewport.hpp"
#include "simulator/analysis/memory_curve.hpp"

namespace interlace::gui {

/// The memory of one rank on the axis of its timeline.
struct MemoryPlot {
  const analysis::MemoryCurve* curve = nullptr;  ///< these two are never null when drawn
  const trace::Trace* trace = nullptr;
  Viewport view;  ///< of the plot; time 0 is `anchor` of the trace
  Nanoseconds anchor = 0;
  Bytes top = 1;                 ///< at the upper edge, at least 1
  std::optional<double> cursor;  ///< pixels from the left edge of the plot

  [[nodiscard]] Viewport trace_view() const { return view.shifted(static_cast<double>(anchor)); }
  /// Of the curve, whose values hold at the cursor; none beside the trace, where a view that is linked to that of a
  /// longer one looks, too.
  [[nodiscard]] std::optional<std::size_t> moment_at_cursor() const;
};

/// Pixels that the curve takes of those that its timeline has with all that belongs to it: the rows need them more
/// where there are few.
[[nodiscard]] double memory_height(double room);

/// For each pixel of the plot, of the moments whose values hold in it the one with most allocated (where that is
/// not recorded: reserved). None before the first moment and behind `until`.
[[nodiscard]] std::vector<std::optional<std::size_t>> fullest_moments(const analysis::MemoryCurve& curve,
                                                                      const Viewport& trace_view, Nanoseconds until);

/// What is allocated at a moment and neither always there nor of a pool: of a recording that does not tell the streams
/// of blocks, all that comes and goes.
[[nodiscard]] Bytes of_no_pool(const analysis::MemoryCurve& curve, std::size_t moment);

/// The most that a curve ever shows.
[[nodiscard]] Bytes most_of(const analysis::MemoryCurve& curve);

/// What a pool is called: its stream as the timeline names it, else its handle.
[[nodiscard]] QString pool_name(const trace::Trace& trace, const analysis::PoolCurve& pool);

/// As reports have it: "1.53 GiB".
[[nodiscard]] QString bytes_text(Bytes bytes);

/// Allocated bytes as areas where they are recorded, what is always there below, then pool by pool; active and reserved
/// bytes as lines. At the cursor, the numbers; without one, the peaks.
void draw_memory(QPainter& painter, const MemoryPlot& plot, const QRectF& area, const Theme& theme);

}  // namespace interlace::gui
