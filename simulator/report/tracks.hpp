#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/trace/trace.hpp"

namespace interlace::report {

/// A row of a timeline on which no two operations overlap, except that those of a host thread may nest.
struct Track {
  trace::LaneId lane;
  std::string name;

  bool operator==(const Track&) const = default;
};

/// The rows that show all of a trace, and the row of each operation.
struct Tracks {
  std::vector<Track> tracks;            ///< lanes in order, host threads of a rank before its streams
  std::vector<std::uint32_t> track_of;  ///< an operation: position in `tracks`
};

/// Spreads the operations of each lane over as few rows as it takes, so that none hides another: on a stream each row
/// holds one operation at a time; host calls and ranges that nest share a row. Annotations of a stream have rows of
/// their own. Rows beyond a lane's first are named "<lane> (overlap n)".
[[nodiscard]] Tracks lay_out(const trace::Trace& trace);

}  // namespace interlace::report
