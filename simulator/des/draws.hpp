#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace interlace::des {

/// Seeded random numbers that are the same with every standard library (its distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, n). REQUIRES: n > 0.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  /// Uniform in (0, 1].
  double uniform() { return (static_cast<double>(engine_() >> 11U) + 1.0) * 0x1.0p-53; }
  /// Mean 0, standard deviation 1, by the method of Box and Muller.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace interlace::des
