#pragma once

#include <string>
#include <vector>

#include "simulator/replay/predict.hpp"
#include "simulator/report/predict_report.hpp"

namespace interlace::cli {

/// The predicted memory by rank, with the names of stages, modules (by ModuleId) and streams in words.
[[nodiscard]] std::vector<report::RankMemory> memory_rows(const replay::Prediction& prediction,
                                                          const std::vector<std::string>& modules);

/// What the recording tells of it, of the ranks whose allocator it recorded.
[[nodiscard]] std::vector<report::RecordedMemory> recorded_memory(const trace::Trace& trace);

}  // namespace interlace::cli
