#include "gui/timeline/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::gui {

namespace {

using trace::LaneId;
using trace::LaneKind;
using trace::OperationId;
using trace::OperationKind;

Band band_of(OperationKind kind) {
  if (kind == OperationKind::kDeviceRange) return Band::kRanges;
  return kind == OperationKind::kAllocation ? Band::kAllocations : Band::kWork;
}

/// Spreads operations, which come by start, over rows.
class RowPacker {
 public:
  RowPacker(const trace::Trace& trace, LaneId lane, Band band, bool nested)
      : trace_(&trace), lane_(lane), band_(band), nested_(nested) {}

  void add(OperationId op) {
    while (open_ > 0 && is_free(open_ - 1, op)) --open_;
    const std::size_t level = first_free(nested_ ? below_what_holds(op) : 0, op);
    if (level == rows_.size()) rows_.push_back({lane_, band_, static_cast<std::uint32_t>(level), {}, {}, {}});
    rows_[level].add(*trace_, op);
    open_ = std::max(open_, level + 1);
  }

  [[nodiscard]] std::vector<Row> take() { return std::move(rows_); }

 private:
  [[nodiscard]] bool is_free(std::size_t level, OperationId op) const {
    return rows_[level].spans.back().end <= trace_->start(op);
  }
  [[nodiscard]] std::size_t first_free(std::size_t from, OperationId op) const {
    std::size_t level = from;
    while (level < open_ && !is_free(level, op)) ++level;
    return level;
  }
  /// The level below the deepest operation that is open and lasts as long as `op`.
  [[nodiscard]] std::size_t below_what_holds(OperationId op) const {
    std::size_t level = open_;
    const auto holds = [&](std::size_t at) {
      return !is_free(at, op) && rows_[at].spans.back().end >= trace_->end(op);
    };
    while (level > 0 && !holds(level - 1)) --level;
    return level;
  }

  const trace::Trace* trace_;
  LaneId lane_;
  Band band_;
  bool nested_;
  std::size_t open_ = 0;  ///< levels from here on are free
  std::vector<Row> rows_;
};

std::array<std::vector<Row>, 3> rows_of(const trace::Trace& trace, LaneId lane) {
  const bool is_thread = trace.lane(lane).kind == LaneKind::kHostThread;
  std::array<RowPacker, 3> bands = {RowPacker(trace, lane, Band::kWork, is_thread),
                                    RowPacker(trace, lane, Band::kRanges, true),
                                    RowPacker(trace, lane, Band::kAllocations, false)};
  for (const OperationId op : trace.on_lane(lane)) {
    bands[static_cast<std::size_t>(band_of(trace.kind(op)))].add(op);
  }
  return {bands[0].take(), bands[1].take(), bands[2].take()};
}

bool launches_device_work(const trace::Trace& trace, LaneId lane) {
  return std::ranges::any_of(trace.on_lane(lane), [&](OperationId op) { return !trace.launched_by(op).empty(); });
}

struct OrderedLane {
  LaneId lane;
  LaneUse use = LaneUse::kOtherThread;
  analysis::StreamRole role = analysis::StreamRole::kIdle;
};

std::vector<OrderedLane> ordered_lanes(const trace::Trace& trace) {
  const analysis::Annotations annotations(trace);
  std::vector<OrderedLane> ordered;
  for (const analysis::StreamUse& use : analysis::stream_use(trace, analysis::whole_trace(trace))) {
    ordered.push_back({use.stream, LaneUse::kStream, use.role});
  }
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) {
    const LaneId lane{i};
    if (trace.lane(lane).kind != LaneKind::kHostThread) continue;
    LaneUse use = launches_device_work(trace, lane) ? LaneUse::kLaunchThread : LaneUse::kOtherThread;
    if (annotations.main_thread(trace.lane(lane).rank) == lane) use = LaneUse::kMainThread;
    ordered.push_back({lane, use, {}});
  }
  std::ranges::stable_sort(ordered, {}, [&](const OrderedLane& of) {
    const trace::Lane& lane = trace.lane(of.lane);
    return std::tuple(lane.rank, of.use, of.use == LaneUse::kStream ? of.role : analysis::StreamRole{}, lane.number);
  });
  return ordered;
}

std::string title_of(const trace::Trace& trace, LaneId id, LaneUse use) {
  const trace::Lane& lane = trace.lane(id);
  if (lane.kind == LaneKind::kStream) return stream_name(trace, id);
  if (use == LaneUse::kMainThread) return lane.name == "host" ? "host" : "host main";
  return fmt::format("thread {}", lane.number);
}

std::string remark_of(const trace::Lane& lane, const OrderedLane& of) {
  if (lane.kind == LaneKind::kHostThread) {
    if (of.use == LaneUse::kMainThread) return lane.name == "host" ? "" : fmt::format("thread {}", lane.number);
    const std::size_t bracket = lane.name.find('(');  // "thread 2286 (pt_autograd_0)"
    if (bracket == std::string::npos || !lane.name.ends_with(')')) return lane.name;
    return lane.name.substr(bracket + 1, lane.name.size() - bracket - 2);
  }
  std::string remark(of.role == analysis::StreamRole::kIdle ? "" : to_string(of.role));
  if (remark == lane.name) remark.clear();
  if (lane.priority.value_or(0) != 0) {
    remark += fmt::format("{}priority {}", remark.empty() ? "" : ", ", *lane.priority);
  }
  return remark;
}

}  // namespace

Look look_of(OperationKind kind) {
  if (kind == OperationKind::kRange || kind == OperationKind::kDeviceRange) return Look::kSpan;
  return kind == OperationKind::kHostSync ? Look::kBlocked : Look::kWork;
}

void Row::add(const trace::Trace& trace, OperationId op) {
  operations.push_back(op);
  spans.push_back({trace.start(op), trace.end(op)});
  looks.push_back(look_of(trace.kind(op)));
}

Lanes lay_out(const trace::Trace& trace) {
  Lanes all;
  for (const OrderedLane& of : ordered_lanes(trace)) {
    if (trace.on_lane(of.lane).empty()) continue;
    std::array<std::vector<Row>, 3> bands = rows_of(trace, of.lane);
    const trace::Lane& lane = trace.lane(of.lane);
    all.lanes.push_back({.lane = of.lane,
                         .use = of.use,
                         .title = title_of(trace, of.lane, of.use),
                         .remark = remark_of(lane, of),
                         .role = of.use == LaneUse::kStream ? std::optional(of.role) : std::nullopt,
                         .first_row = static_cast<RowIndex>(all.rows.size()),
                         .work_rows = static_cast<std::uint32_t>(bands[0].size()),
                         .range_rows = static_cast<std::uint32_t>(bands[1].size()),
                         .allocation_rows = static_cast<std::uint32_t>(bands[2].size())});
    for (std::vector<Row>& band : bands) std::ranges::move(band, std::back_inserter(all.rows));
  }
  return all;
}

std::string stream_name(const trace::Trace& trace, LaneId stream) {
  const trace::Lane& lane = trace.lane(stream);
  if (lane.name.empty()) return fmt::format("stream {}", lane.number);
  // "main (priority -1)" of the predicted: the bare name is enough.
  const std::string name = lane.name.substr(0, lane.name.find(" (priority"));
  const auto same = std::ranges::count_if(trace.lanes(), [&](const trace::Lane& other) {
    return other.kind == LaneKind::kStream && other.rank == lane.rank && other.name == lane.name;
  });
  return same > 1 ? fmt::format("{} {}", name, lane.number) : name;
}

std::optional<RowIndex> row_of(const Lanes& lanes, const trace::Trace& trace, OperationId op) {
  const LaneId lane = trace.lane_of(op);
  const auto found = std::ranges::find(lanes.lanes, lane, &LaneRows::lane);
  if (found == lanes.lanes.end()) return std::nullopt;
  for (RowIndex row = found->first_row; row < found->first_row + found->rows(); ++row) {
    if (std::ranges::binary_search(lanes.rows[row].operations, op)) return row;
  }
  return std::nullopt;
}

std::optional<OperationId> operation_at(const Row& row, Nanoseconds t, Nanoseconds within) {
  const auto after = std::ranges::upper_bound(row.spans, t, {}, &Interval::begin);
  const auto operation = [&](auto span) { return row.operations[static_cast<std::size_t>(span - row.spans.begin())]; };
  std::optional<OperationId> nearest;
  Nanoseconds distance = within;
  if (after != row.spans.begin()) {
    const auto before = after - 1;
    if (t < before->end) return operation(before);
    if (t - before->end <= distance) {
      nearest = operation(before);
      distance = t - before->end;
    }
  }
  if (after != row.spans.end() && after->begin - t <= distance) nearest = operation(after);
  return nearest;
}

}  // namespace interlace::gui
