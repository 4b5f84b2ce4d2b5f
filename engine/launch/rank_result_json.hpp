#pragma once

#include <string>

#include "engine/launch/train.hpp"

namespace interlace::engine {

/// A rank's result on its way to rank 0. Losses keep all their bits, NaN too.
[[nodiscard]] std::string to_json(const RankResult& result);
[[nodiscard]] RankResult rank_result_of(const std::string& json);

}  // namespace interlace::engine
