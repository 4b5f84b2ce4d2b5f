#include "gui/timeline/placement.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace interlace::gui {

namespace {

/// Rows of host threads that the compact view shows.
constexpr std::uint32_t kMainThreadRows = 4;
constexpr std::uint32_t kLaunchThreadRows = 2;
constexpr std::uint32_t kOtherThreadRows = 1;

std::uint32_t compact_rows(const LaneRows& lane) {
  switch (lane.use) {
    case LaneUse::kMainThread: return std::min(lane.work_rows, kMainThreadRows);
    case LaneUse::kLaunchThread: return std::min(lane.work_rows, kLaunchThreadRows);
    case LaneUse::kOtherThread: return std::min(lane.work_rows, kOtherThreadRows);
    case LaneUse::kStream: break;
  }
  // A stream that holds nothing but ranges shows these.
  return lane.work_rows > 0 ? lane.work_rows : lane.rows();
}

double height_of(const Row& row, const LaneRows& lane, const RowHeights& heights) {
  switch (row.band) {
    case Band::kRanges: return heights.range_row;
    case Band::kAllocations: return heights.allocation_row;
    case Band::kWork: break;
  }
  if (lane.use == LaneUse::kOtherThread) return heights.other_row;
  return lane.use == LaneUse::kStream ? heights.stream_row : heights.thread_row;
}

template <class Placed>
const Placed* at(const std::vector<Placed>& placed, double y) {
  auto after = std::ranges::upper_bound(placed, y, {}, &Placed::top);
  if (after == placed.begin()) return nullptr;
  --after;
  return y < after->top + after->height ? &*after : nullptr;
}

}  // namespace

RowHeights RowHeights::scaled(double factor) const {
  return {.rank = rank * factor,
          .thread_row = thread_row * factor,
          .other_row = other_row * factor,
          .stream_row = stream_row * factor,
          .range_row = range_row * factor,
          .allocation_row = allocation_row * factor,
          .gap = gap * factor};
}

LaneChoice LaneChoice::compact(const Lanes& lanes, std::size_t ranks) {
  return {std::vector<LaneDetail>(lanes.lanes.size(), LaneDetail::kCompact),
          std::vector<bool>(lanes.lanes.size(), false), std::vector<bool>(ranks, false)};
}

LaneChoice LaneChoice::carried_over(const trace::Trace& trace, const Lanes& lanes_here, const trace::Trace& other,
                                    const Lanes& other_lanes) const {
  LaneChoice carried = compact(other_lanes, other.ranks().size());
  const auto key = [](const trace::Trace& of, const LaneRows& lane) {
    return std::pair(of.ranks()[of.lane(lane.lane).rank.index()].number, std::string_view(lane.title));
  };
  for (std::size_t there = 0; there < other_lanes.lanes.size(); ++there) {
    const auto same = std::ranges::find(lanes_here.lanes, key(other, other_lanes.lanes[there]),
                                        [&](const LaneRows& lane) { return key(trace, lane); });
    if (same == lanes_here.lanes.end()) continue;
    const auto here = static_cast<std::size_t>(same - lanes_here.lanes.begin());
    carried.lanes[there] = lanes[here];
    carried.pinned[there] = pinned[here];
  }
  for (std::size_t there = 0; there < other.ranks().size(); ++there) {
    const auto same = std::ranges::find(trace.ranks(), other.ranks()[there].number, &trace::Rank::number);
    if (same != trace.ranks().end()) {
      carried.folded_ranks[there] = folded_ranks[static_cast<std::size_t>(same - trace.ranks().begin())];
    }
  }
  return carried;
}

const PlacedRow* Placement::row_at(double y) const { return at(rows, y); }
const PlacedLane* Placement::lane_at(double y) const { return at(lanes, y); }
const PlacedRank* Placement::rank_at(double y) const { return at(ranks, y); }

const PlacedRow* Placement::place_of(RowIndex row) const {
  const auto found = std::ranges::find(rows, row, &PlacedRow::row);
  return found == rows.end() ? nullptr : &*found;
}

std::size_t cut_to(Placement& placement, double height) {
  const auto rows = placement.rows.size();
  std::erase_if(placement.rows, [&](const PlacedRow& row) { return row.top + row.height > height; });
  const double end = placement.rows.empty() ? 0 : placement.rows.back().top + placement.rows.back().height;
  std::erase_if(placement.lanes, [&](const PlacedLane& lane) { return lane.top >= end; });
  std::erase_if(placement.ranks, [&](const PlacedRank& rank) { return rank.top >= end; });
  if (!placement.lanes.empty()) placement.lanes.back().height = end - placement.lanes.back().top;
  placement.height = end;
  return rows - placement.rows.size();
}

Placement place(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice, const RowHeights& heights) {
  Placement placed;
  double y = 0;
  const auto place_lane = [&](std::uint32_t i) {
    const LaneRows& lane = lanes.lanes[i];
    const std::uint32_t shown = choice.lanes[i] == LaneDetail::kFull ? lane.rows() : compact_rows(lane);
    if (shown == 0) return;
    const double top = y;
    for (RowIndex row = lane.first_row; row < lane.first_row + shown; ++row) {
      const double height = height_of(lanes.rows[row], lane, heights);
      placed.rows.push_back({row, y, height});
      y += height;
    }
    placed.lanes.push_back({i, top, y - top, lane.rows() - shown});
    y += heights.gap;
  };
  for (std::uint32_t i = 0; i < lanes.lanes.size(); ++i) {
    if (choice.pinned[i]) place_lane(i);
  }
  placed.pinned_height = y;
  std::optional<trace::RankId> rank;
  for (std::uint32_t i = 0; i < lanes.lanes.size(); ++i) {
    const trace::RankId of = trace.lane(lanes.lanes[i].lane).rank;
    const bool folded = choice.folded_ranks[of.index()];
    if (rank != of) {
      placed.ranks.push_back({of, y, heights.rank, folded});
      y += heights.rank + heights.gap;
      rank = of;
    }
    if (!folded && !choice.pinned[i]) place_lane(i);
  }
  placed.height = y;
  return placed;
}

}  // namespace interlace::gui
