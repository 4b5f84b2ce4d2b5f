#pragma once

#include <cstdint>

namespace interlace::engine::cuda {

/// How many threads share a row of so many vectors, and how many vectors each of them holds in registers.
struct RowGroup {
  int lanes = 32;
  int held = 1;
};

/// As few lanes as hold the row in one vector each, a warp at most; then up to eight vectors a lane. Wider rows take
/// more than one pass over `held` columns.
[[nodiscard]] constexpr RowGroup row_group(std::int32_t vectors) {
  for (const int lanes : {4, 8, 16, 32}) {
    if (vectors <= lanes) return {.lanes = lanes, .held = 1};
  }
  for (const int held : {2, 4}) {
    if (vectors <= 32 * held) return {.lanes = 32, .held = held};
  }
  return {.lanes = 32, .held = 8};
}

}  // namespace interlace::engine::cuda
