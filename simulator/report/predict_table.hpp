#pragma once

#include <iosfwd>

#include "simulator/report/predict_report.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

/// The answer for a terminal: a line a schedule, the fastest first and those of is_best() marked, with its step time on
/// a common axis (a dot between the ends of the interval), and below it what changed and why.
void write_predict_table(std::ostream& out, const PredictReport& report, const TextStyle& style);

}  // namespace interlace::report
