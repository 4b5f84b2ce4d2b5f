#pragma once

#include <string>
#include <vector>

#include "simulator/base/units.hpp"

namespace interlace::report {

/// Round times for the marks of an axis from `from` to `to`: at most `at_most`, 1, 2 or 5 times a power of ten apart,
/// all inside. At least nanoseconds apart; empty where to <= from.
[[nodiscard]] std::vector<Nanoseconds> axis_marks(Nanoseconds from, Nanoseconds to, int at_most);

/// "35 ms", "35.5 ms", "120 ns": with no more decimals than marks `apart` from each other need.
[[nodiscard]] std::string mark_text(Nanoseconds at, Nanoseconds apart);

}  // namespace interlace::report
