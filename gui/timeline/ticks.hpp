#pragma once

#include <string>
#include <vector>

#include "gui/timeline/viewport.hpp"

namespace interlace::gui {

struct Tick {
  Nanoseconds at = 0;
  std::string label;  ///< "" for a minor one

  bool operator==(const Tick&) const = default;
};

/// Marks of a time axis, minor ones between the labelled ones: 1, 2 or 5 times a power of ten apart, labels at least
/// `least_px` pixels apart. Labels tell the time since the axis' zero in the unit that suits the distance ("12.5 ms").
[[nodiscard]] std::vector<Tick> ticks(const Viewport& view, double least_px);

/// A length of time for people, three or four digits: "37.45 ms", "812 ns", "1.204 s".
[[nodiscard]] std::string duration_text(Nanoseconds time);

/// In milliseconds, for columns and lines that have them: two decimals as in reports ("37.45"), more where these tell
/// little ("0.018", "0.0041").
[[nodiscard]] std::string milliseconds_text(Nanoseconds time);

/// A point in time with all digits that `apart` (the distance to the next of its kind) needs: "12.50 ms".
[[nodiscard]] std::string time_text(Nanoseconds at, Nanoseconds apart);

}  // namespace interlace::gui
