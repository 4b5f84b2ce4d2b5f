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

/// What the user chose to see: a detail for each lane of Lanes::lanes, and the folded ranks.
struct LaneChoice {
  std::vector<LaneDetail> lanes;
  std::vector<bool> folded_ranks;  ///< by RankId

  static LaneChoice compact(const Lanes& lanes, std::size_t ranks);
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

/// Where everything of a trace stands above each other, from y = 0 down; all by top.
struct Placement {
  std::vector<PlacedRank> ranks;
  std::vector<PlacedLane> lanes;
  std::vector<PlacedRow> rows;
  double height = 0;

  /// Nothing between rows.
  [[nodiscard]] const PlacedRow* row_at(double y) const;
  [[nodiscard]] const PlacedLane* lane_at(double y) const;
  [[nodiscard]] const PlacedRank* rank_at(double y) const;
  /// The place of a row that is shown.
  [[nodiscard]] const PlacedRow* place_of(RowIndex row) const;
};

[[nodiscard]] Placement place(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice,
                              const RowHeights& heights);

}  // namespace interlace::gui
