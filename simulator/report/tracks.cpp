#include "simulator/report/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/trace/lane_name.hpp"

namespace interlace::report {

namespace {

using trace::LaneId;
using trace::OperationId;
using trace::OperationKind;

/// Finds the first row of a family that is free for an operation, and opens one where none is.
class RowPacker {
 public:
  RowPacker(const trace::Trace& trace, bool may_nest) : trace_(trace), may_nest_(may_nest) {}

  std::size_t place(OperationId op) {
    for (std::size_t row = 0; row < open_.size(); ++row) {
      if (fits(open_[row], op)) return row;
    }
    open_.push_back({op});
    return open_.size() - 1;
  }

  [[nodiscard]] std::size_t rows() const { return open_.size(); }

 private:
  /// `open`: what of the row has not ended yet, outermost first. Operations come by start.
  bool fits(std::vector<OperationId>& open, OperationId op) const {
    while (!open.empty() && trace_.end(open.back()) <= trace_.start(op)) open.pop_back();
    if (!open.empty() && (!may_nest_ || trace_.end(op) > trace_.end(open.back()))) return false;
    open.push_back(op);
    return true;
  }

  const trace::Trace& trace_;
  bool may_nest_;
  std::vector<std::vector<OperationId>> open_;
};

/// Host threads before streams, rank by rank, else in lane order.
std::vector<LaneId> ordered_lanes(const trace::Trace& trace) {
  std::vector<LaneId> lanes;
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i) lanes.push_back({i});
  std::ranges::stable_sort(lanes, {}, [&](LaneId id) {
    const trace::Lane& lane = trace.lane(id);
    return std::pair(lane.rank, lane.kind);
  });
  return lanes;
}

void add_rows(const RowPacker& packer, LaneId lane, const std::string& name, std::vector<Track>& tracks) {
  for (std::size_t row = 0; row < packer.rows(); ++row) {
    tracks.push_back({lane, row == 0 ? name : fmt::format("{} (overlap {})", name, row)});
  }
}

}  // namespace

Tracks lay_out(const trace::Trace& trace) {
  Tracks result;
  result.track_of.resize(trace.size());
  for (const LaneId lane : ordered_lanes(trace)) {
    const bool is_stream = trace.lane(lane).kind == trace::LaneKind::kStream;
    RowPacker work(trace, !is_stream);
    RowPacker ranges(trace, true);
    const auto is_stream_range = [&](OperationId op) { return trace.kind(op) == OperationKind::kDeviceRange; };
    for (const OperationId op : trace.on_lane(lane)) {
      const std::size_t row = is_stream_range(op) ? ranges.place(op) : work.place(op);
      result.track_of[op.index()] = static_cast<std::uint32_t>(row);
    }
    const auto first_work = static_cast<std::uint32_t>(result.tracks.size());
    const std::string name = trace::lane_name(trace, lane);
    add_rows(work, lane, name, result.tracks);
    const auto first_range = static_cast<std::uint32_t>(result.tracks.size());
    add_rows(ranges, lane, name + " annotations", result.tracks);
    for (const OperationId op : trace.on_lane(lane)) {
      result.track_of[op.index()] += is_stream_range(op) ? first_range : first_work;
    }
  }
  return result;
}

}  // namespace interlace::report
