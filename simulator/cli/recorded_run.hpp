#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/analysis/step_analysis.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/report/predict_report.hpp"

namespace interlace::cli {

/// What a recording tells of itself: its ranks, their memory, and figures of its steps. files: that it was read from;
/// steps: analysis::recorded_steps of it.
[[nodiscard]] report::RecordedRun recorded_run(const trace::Trace& trace, std::vector<std::string> files,
                                               const std::optional<analysis::RecordedSteps>& steps);

/// Adds what it tells of its machine.
void add_machine(const replay::SiteTable& sites, report::RecordedRun& recorded);

}  // namespace interlace::cli
