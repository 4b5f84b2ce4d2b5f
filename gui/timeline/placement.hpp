#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/timeline/lanes.hpp"

namespace interlace::gui {

/// Heights in pixels.
struct RowHeights {
  double rank = 20;  ///< the bar above the lanes of a rank
  double thread_row = 15;
  double other_row = 10;  ///< of host threads that launch nothing
  double stream_row = 22;
  double range_row = 13;
  double allocation_row = 9;
  double gap = 5;  ///< below each lane

  /// All times `factor`.
  [[nodiscard]] RowHeights scaled(double factor) const;
};

/// How much of a lane is shown.
enum class LaneDetail : std::uint8_t {
  kCompact,  ///< of a stream all work, without its ranges; of a host thread the outer rows
  kFull,     ///< all rows
};

/// Rows of a host thread that the compact view shows, the outer ones.
struct HostRows {
  std::uint32_t main_thread = 4;
  std::uint32_t launch_thread = 2;
  std::uint32_t other_thread = 1;
};

/// What the user chose to see: a detail for each lane of Lanes::lanes, whether it stays at the top, and the folded
/// ranks.
struct LaneChoice {
  std::vector<LaneDetail> lanes;
  std::vector<bool> pinned;        ///< by position in Lanes::lanes
  std::vector<bool> folded_ranks;  ///< by RankId

  static LaneChoice compact(const Lanes& lanes, std::size_t ranks);
  /// The same choice for another trace, lane by lane of the same rank and name; what is new there is compact.
  [[nodiscard]] LaneChoice carried_over(const trace::Trace& trace, const Lanes& lanes_here, const trace::Trace& other,
                                        const Lanes& other_lanes) const;
};

struct PlacedRank {
  trace::RankId rank;
  double top = 0;
  double height = 0;
  bool folded = false;
};
struct PlacedLane {
  std::uint32_t lane = 0;  ///< position in Lanes::lanes
  double top = 0;
  double height = 0;  ///< without the gap
  std::uint32_t rows_left_out = 0;
};
struct PlacedRow {
  RowIndex row = 0;
  double top = 0;
  double height = 0;
};

/// Where everything of a trace stands above each other, from y = 0 down; all by top. Pinned lanes come first, before
/// any rank; they are not there again in their rank.
struct Placement {
  std::vector<PlacedRank> ranks;
  std::vector<PlacedLane> lanes;
  std::vector<PlacedRow> rows;
  double height = 0;
  double pinned_height = 0;  ///< what stands above this does not scroll

  [[nodiscard]] bool is_pinned(double top) const { return top < pinned_height; }
  /// Where on the plot something is that is placed at `top`, with so many pixels scrolled away.
  [[nodiscard]] double shown_at(double top, double scroll) const { return is_pinned(top) ? top : top - scroll; }
  /// What stands at a point of the plot: the inverse.
  [[nodiscard]] double placed_at(double y, double scroll) const { return is_pinned(y) ? y : y + scroll; }

  /// Nothing between rows.
  [[nodiscard]] const PlacedRow* row_at(double y) const;
  [[nodiscard]] const PlacedLane* lane_at(double y) const;
  [[nodiscard]] const PlacedRank* rank_at(double y) const;
  /// The place of a row that is shown.
  [[nodiscard]] const PlacedRow* place_of(RowIndex row) const;
};

[[nodiscard]] Placement place(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice,
                              const RowHeights& heights, const HostRows& host = {});

/// For a plot of this height that can be scrolled. Streams are what people look for: until those of the first rank are
/// in sight, compact host threads show fewer rows, one at least, and at last all rows are lower.
[[nodiscard]] Placement place_in_sight(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice,
                                       double height);

/// For a picture of this height: leaves out rows until the others fit as a whole. Those of host threads go first, the
/// outer ones of the main threads last among them, then those of streams from below. REQUIRES: nothing is pinned.
[[nodiscard]] Placement place_within(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice,
                                     const RowHeights& heights, double height);

}  // namespace interlace::gui
