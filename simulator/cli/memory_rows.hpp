#pragma once

#include <string>
#include <vector>

#include "simulator/replay/predict.hpp"
#include "simulator/report/predict_report.hpp"

namespace interlace::cli {

/// The predicted memory by rank, with the names of stages, modules (by ModuleId) and streams in words.
[[nodiscard]] std::vector<report::RankMemory> memory_rows(const replay::Prediction& prediction,
                                                          const std::vector<std::string>& modules);

}  // namespace interlace::cli
