#pragma once

#include <QRectF>
#include <QString>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/timeline/dependency.hpp"
#include "gui/timeline/placement.hpp"
#include "gui/timeline/scene.hpp"
#include "gui/timeline/search.hpp"
#include "gui/timeline/viewport.hpp"
#include "simulator/analysis/idle_causes.hpp"
#include "simulator/graph/critical_path.hpp"

namespace interlace::gui {

/// A range of time being measured, on some rows.
struct MeasuredRange {
  Interval span;
  std::vector<RowIndex> rows;

  bool operator==(const MeasuredRange&) const = default;
};

/// A flag that the user set at a point in time.
struct Mark {
  Nanoseconds at = 0;
  std::string text;

  bool operator==(const Mark&) const = default;
};

/// Which of its lanes are drawn: those that scroll go below those that do not.
enum class PanePart : std::uint8_t { kAll, kPinned, kScrolled };

/// What one timeline shows, ready to be drawn anywhere. Times are the trace's own, but for `view`.
struct PaneContent {
  const Scene* scene = nullptr;  ///< these three are never null when drawn
  const Colouring* colouring = nullptr;
  const Placement* placement = nullptr;
  QString title;  ///< "measured"
  QString alarm;  ///< what makes all that follows doubtful, behind it; mostly empty
  QString facts;  ///< the rest of the line
  Viewport view;  ///< of the plot; time 0 is `anchor` of the trace
  Nanoseconds anchor = 0;
  double scroll = 0;  ///< pixels of the placement above the upper edge, but for pinned lanes
  PanePart part = PanePart::kAll;
  std::span<const Interval> steps;
  std::optional<trace::OperationId> selected;
  std::optional<trace::OperationId> counterpart;  ///< of what is selected in the other pane
  std::optional<trace::OperationId> hovered;
  std::span<const Dependency> arrows;
  std::optional<MeasuredRange> range;
  std::span<const Mark> marks;
  std::size_t rows_cut = 0;                                ///< left out below, where what is drawn cannot be scrolled
  const SearchHits* hits = nullptr;                        ///< may be null
  std::span<const graph::CriticalPath> critical;           ///< one a step; empty: not shown
  std::span<const std::vector<analysis::IdlePiece>> idle;  ///< by rank; empty: not shown

  /// Where on the plot something is that is placed at `top`.
  [[nodiscard]] double shown_at(double top) const { return placement->shown_at(top, scroll); }
  /// Whether what is placed at `top` is of the part that is drawn.
  [[nodiscard]] bool draws(double top) const {
    return part == PanePart::kAll || placement->is_pinned(top) == (part == PanePart::kPinned);
  }
  /// `view` on the trace's own time.
  [[nodiscard]] Viewport trace_view() const { return view.shifted(static_cast<double>(anchor)); }
};

/// The parts of a pane.
struct PaneAreas {
  QRectF title;
  QRectF steps;  ///< brackets with the lengths of the training steps
  QRectF axis;
  QRectF labels;  ///< names of the lanes
  QRectF plot;
};
[[nodiscard]] PaneAreas areas_of(const QRectF& pane);

/// The space that a pane takes beside its plot.
inline constexpr double kLabelWidth = 176;
inline constexpr double kTitleHeight = 24;
inline constexpr double kStepsHeight = 17;
inline constexpr double kAxisHeight = 19;
inline constexpr double kAbovePlot = kTitleHeight + kStepsHeight + kAxisHeight;

/// The line below the rows that says how many more there are.
inline constexpr double kRowsCutHeight = 13;

/// What lies at a point of the plot.
struct Hit {
  std::optional<RowIndex> row;
  std::optional<trace::OperationId> operation;
  Nanoseconds at = 0;  ///< on the trace's own time
};
/// x, y: from the upper left corner of the plot. Operations up to three pixels away count, too.
[[nodiscard]] Hit hit_test(const PaneContent& content, double x, double y);

/// The rows of which anything is in sight on a plot of this height.
[[nodiscard]] std::vector<RowIndex> rows_in_sight(const PaneContent& content, double height);

}  // namespace interlace::gui
