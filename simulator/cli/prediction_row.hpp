#pragma once

#include <string>
#include <vector>

#include "simulator/analysis/step_analysis.hpp"
#include "simulator/base/diagnostics.hpp"
#include "simulator/check/schedule_check.hpp"
#include "simulator/replay/predict.hpp"
#include "simulator/report/predict_report.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::cli {

/// Of all steps of all runs.
[[nodiscard]] analysis::OverlapOfRanks predicted_overlap(const replay::PredictedRuns& simulated);

/// All that is said about the steps of a prediction: overlap and what the host waits for are those of all steps of all
/// its runs, as the step time is, the rest of the few in its trace. recorded: what it is predicted from.
[[nodiscard]] analysis::StepAnalysis analyse_prediction(const replay::Prediction& prediction,
                                                        const trace::Trace& recorded);

/// What the report tells of one predicted schedule, as far as it takes no other: times, overlap, memory, races, and
/// what is wrong with the schedule itself, however fast it is. modules: by ModuleId. checked: under which rules that
/// is told; of hazards only, whatever it says.
[[nodiscard]] report::Prediction prediction_row(const schedule::Schedule& schedule,
                                                const replay::Prediction& prediction,
                                                const analysis::StepAnalysis& steps,
                                                const std::vector<std::string>& modules, const Diagnostics& assumptions,
                                                check::CheckOptions checked);

}  // namespace interlace::cli
