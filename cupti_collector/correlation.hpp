#pragma once

#include <cstdint>

namespace interlace::collector {

/// CUPTI numbers calls in 32 bits, which a busy program uses up within hours. Widens them to 64 bits, also where
/// records come out of order by less than 2^31 calls.
class CorrelationWidener {
 public:
  [[nodiscard]] std::int64_t widen(std::uint32_t correlation) {
    if (!has_begun_) newest_ = correlation;
    has_begun_ = true;
    const auto newest_low = static_cast<std::uint32_t>(newest_);
    // The distance around the circle of 32-bit numbers, as short as possible.
    const auto distance = static_cast<std::int32_t>(correlation - newest_low);
    const std::int64_t wide = newest_ + distance;
    if (wide > newest_) newest_ = wide;
    return wide;
  }

 private:
  bool has_begun_ = false;
  std::int64_t newest_ = 0;
};

}  // namespace interlace::collector
