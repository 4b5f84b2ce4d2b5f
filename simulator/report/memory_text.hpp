#pragma once

#include <string>
#include <vector>

#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// The rank that reserves most; REQUIRES: memory is known.
[[nodiscard]] const RankMemory& fullest_rank(const Prediction& prediction);

/// The peaks of the fullest rank, what is behind them, and whether all fits, a sentence each. Where memory is not
/// known: that this cannot be told; nothing where no capacity is given.
[[nodiscard]] std::vector<std::string> memory_lines(const Prediction& prediction, std::optional<Bytes> capacity);

}  // namespace interlace::report
