#pragma once

#include <cstdint>

namespace interlace::engine {

/// Uniform in [0, end), by the high half of a product: of random bits' upper 32 and `end`; of all 64 where `end` is
/// greater than 2^32, so that ids of small tables are what they were before there were greater ones.
[[nodiscard]] constexpr std::uint64_t uniform_below(std::uint64_t bits, std::uint64_t end) {
  if (end <= std::uint64_t{1} << 32U) return ((bits >> 32U) * end) >> 32U;
  __extension__ using Product = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Product>(bits) * end) >> 64U);
}

}  // namespace interlace::engine
