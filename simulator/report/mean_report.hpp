#pragma once

#include <vector>

#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// One answer of those that several recordings of one job give, each made by other processes: two processes of the same
/// job differ (races end otherwise, a host is slower), and a mean is off by less than one of them. Times, overlap and
/// what is known of the replay's errors are means; memory, reasons and races are those of the first; flaws are counted
/// together; a schedule that one of them leaves out is left out. REQUIRES: at least one, all for the same schedules.
/// Throws Error(report.other_job) where they differ in what they recorded: schedule or ranks.
[[nodiscard]] PredictReport mean_over(std::vector<PredictReport> reports);

}  // namespace interlace::report
