#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "simulator/cli/console.hpp"
#include "simulator/cli/predict_request.hpp"

namespace interlace::cli {

/// What is said beside an answer about a recorded job, on standard error: where what is assumed of the machine comes
/// from, and the flaws of the recording.
void tell_recorded(const report::RecordedRun& recorded, Console& console);

/// Which schedules were left out, and why; for answers that have no place for that.
void tell_left_out(std::span<const report::SkippedSchedule> skipped, Console& console);

/// All that was named, files or not.
[[nodiscard]] std::vector<std::string> files_of(const PredictRequest& request);

/// An answer without a prediction is a failure; why each schedule was left out stands in it. Throws
/// Error(cli.nothing_predicted).
[[noreturn]] void refuse_no_prediction(const PredictRequest& request, std::size_t left_out);

}  // namespace interlace::cli
