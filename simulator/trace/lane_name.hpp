#pragma once

#include <string>

#include "simulator/trace/trace.hpp"

namespace interlace::trace {

/// What a lane is called where people read it: its name; without one "thread 12" or "stream 7"; and where other lanes
/// of its kind on its rank bear the name, too, "stream 14 (non-blocking)".
[[nodiscard]] std::string lane_name(const Trace& trace, LaneId lane);

}  // namespace interlace::trace
