#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// The rank that reserves most; REQUIRES: memory is known.
[[nodiscard]] const RankMemory& fullest_rank(const Prediction& prediction);

/// How often the cache is emptied on the rank where that is most often; REQUIRES: memory is known.
[[nodiscard]] std::int64_t most_retries(const Prediction& prediction);

/// "allocated 8.86 GiB, active 12.03 GiB, reserved 16.14 GiB at most": the largest of all ranks, as far as known; empty
/// where nothing is.
[[nodiscard]] std::string recorded_peaks(const RecordedRun& recorded);

/// The peaks of the fullest rank, what is behind them, and whether all fits, a sentence each. Where memory is not
/// known: that this cannot be told; nothing where no capacity is given.
[[nodiscard]] std::vector<std::string> memory_lines(const Prediction& prediction, std::optional<Bytes> capacity);

}  // namespace interlace::report
