#pragma once

#include "simulator/base/error.hpp"

namespace interlace::cli {

inline constexpr ErrorCode kUnknownOutput{"cli.unknown_output"};
inline constexpr ErrorCode kPartNotBuilt{"cli.part_not_built"};
inline constexpr ErrorCode kCannotAnchor{"cli.cannot_anchor"};
inline constexpr ErrorCode kUnclearRanks{"cli.unclear_ranks"};
inline constexpr ErrorCode kNotRepaired{"cli.not_repaired"};

}  // namespace interlace::cli
