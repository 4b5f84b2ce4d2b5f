#include "gui/timeline/placement.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace interlace::gui {

namespace {

std::uint32_t compact_rows(const LaneRows& lane, const HostRows& host) {
  switch (lane.use) {
    case LaneUse::kMainThread: return std::min(lane.work_rows, host.main_thread);
    case LaneUse::kLaunchThread: return std::min(lane.work_rows, host.launch_thread);
    case LaneUse::kOtherThread: return std::min(lane.work_rows, host.other_thread);
    case LaneUse::kStream: break;
  }
  // A stream that holds nothing but ranges shows these.
  return lane.work_rows > 0 ? lane.work_rows : lane.rows();
}

/// How many rows of each lane are shown, the first ones.
std::vector<std::uint32_t> rows_shown(const Lanes& lanes, const LaneChoice& choice, const HostRows& host) {
  std::vector<std::uint32_t> shown(lanes.lanes.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const LaneRows& lane = lanes.lanes[i];
    shown[i] = choice.lanes[i] == LaneDetail::kFull ? lane.rows() : compact_rows(lane, host);
  }
  return shown;
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

Placement place_rows(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice, const RowHeights& heights,
                     const std::vector<std::uint32_t>& rows) {
  Placement placed;
  double y = 0;
  const auto place_lane = [&](std::uint32_t i) {
    const LaneRows& lane = lanes.lanes[i];
    const std::uint32_t shown = rows[i];
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

/// Whether the streams of the first rank that is not folded are in sight on an unscrolled plot.
bool first_streams_fit(const trace::Trace& trace, const Lanes& lanes, const Placement& placed, double height) {
  const auto open = std::ranges::find(placed.ranks, false, &PlacedRank::folded);
  return open == placed.ranks.end() || std::ranges::all_of(placed.lanes, [&](const PlacedLane& lane) {
           const LaneRows& of = lanes.lanes[lane.lane];
           return of.use != LaneUse::kStream || trace.lane(of.lane).rank != open->rank ||
                  lane.top + lane.height <= height;
         });
}

/// The lanes that give rows away, one each, in the order in which they do.
std::vector<std::size_t> giving_way(const Lanes& lanes, std::vector<std::uint32_t> shown) {
  constexpr std::array<std::pair<LaneUse, std::uint32_t>, 7> kDownTo = {{{LaneUse::kOtherThread, 0},
                                                                         {LaneUse::kMainThread, 2},
                                                                         {LaneUse::kLaunchThread, 1},
                                                                         {LaneUse::kMainThread, 1},
                                                                         {LaneUse::kLaunchThread, 0},
                                                                         {LaneUse::kMainThread, 0},
                                                                         {LaneUse::kStream, 0}}};
  std::vector<std::size_t> order;
  for (const auto& [use, least] : kDownTo) {
    for (std::size_t i = lanes.lanes.size(); i-- > 0;) {
      if (lanes.lanes[i].use != use) continue;
      for (; shown[i] > least; --shown[i]) order.push_back(i);
    }
  }
  return order;
}

/// Drops what stands below the last row: the bars of ranks without rows, and the gap.
void end_at_last_row(Placement& placement) {
  const double end = placement.rows.empty() ? 0 : placement.rows.back().top + placement.rows.back().height;
  std::erase_if(placement.ranks, [&](const PlacedRank& rank) { return rank.top >= end; });
  placement.height = end;
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

Placement place(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice, const RowHeights& heights,
                const HostRows& host) {
  return place_rows(trace, lanes, choice, heights, rows_shown(lanes, choice, host));
}

Placement place_in_sight(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice, double height) {
  constexpr HostRows kFew{2, 1, 1};
  constexpr HostRows kFewest{1, 1, 1};
  constexpr double kLow = 0.8;  // names can still be read
  for (const HostRows& host : {HostRows(), kFew, kFewest}) {
    Placement placed = place(trace, lanes, choice, RowHeights(), host);
    if (first_streams_fit(trace, lanes, placed, height)) return placed;
  }
  return place(trace, lanes, choice, RowHeights().scaled(kLow), kFewest);
}

Placement place_within(const trace::Trace& trace, const Lanes& lanes, const LaneChoice& choice,
                       const RowHeights& heights, double height) {
  const std::vector<std::uint32_t> all = rows_shown(lanes, choice, {});
  const std::vector<std::size_t> order = giving_way(lanes, all);
  const auto without = [&](std::size_t given) {
    std::vector<std::uint32_t> shown = all;
    for (std::size_t i = 0; i < given; ++i) --shown[order[i]];
    Placement placement = place_rows(trace, lanes, choice, heights, shown);
    end_at_last_row(placement);
    return placement;
  };
  std::size_t too_few = 0;
  std::size_t enough = order.size();
  while (too_few < enough) {
    const std::size_t middle = (too_few + enough) / 2;
    if (without(middle).height <= height) {
      enough = middle;
    } else {
      too_few = middle + 1;
    }
  }
  return without(enough);
}

}  // namespace interlace::gui
