#include "simulator/trace/lane_name.hpp"

#include <algorithm>

namespace interlace::trace {

std::string lane_name(const Trace& trace, LaneId id) {
  const Lane& lane = trace.lane(id);
  const auto is_namesake = [&](const Lane& other) {
    return other.kind == lane.kind && other.rank == lane.rank && other.name == lane.name;
  };
  if (!lane.name.empty() && std::ranges::count_if(trace.lanes(), is_namesake) == 1) return lane.name;
  const std::string numbered = (lane.kind == LaneKind::kStream ? "stream " : "thread ") + std::to_string(lane.number);
  return lane.name.empty() ? numbered : numbered + " (" + lane.name + ")";
}

}  // namespace interlace::trace
