#pragma once

#include <iosfwd>

#include "simulator/report/sweep_report.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

/// The answer for a terminal: a line a value, a column a schedule, in several blocks where they are too wide for one;
/// the fastest of each line marked (is_among_fastest), and below it what changes from value to value.
void write_sweep_table(std::ostream& out, const SweepReport& report, const TextStyle& style);

}  // namespace interlace::report
