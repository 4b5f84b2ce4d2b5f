#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <type_traits>

namespace interlace::des {

template <class T>
concept KeyPart = std::integral<T> || std::is_enum_v<T>;

/// Random numbers that depend on a seed and on what they are drawn for, and on nothing else: not on what was drawn
/// before. Two simulations of one seed that differ in a detail draw the same for all that they have in common, so that
/// their results differ by that detail and not by luck. The same with every standard library.
///
/// A key is a sequence of integers; it begins with an enumerator that says what is drawn.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(mixed(seed + kStep)) {}

  /// Uniform in (0, 1].
  template <KeyPart... Key>
  [[nodiscard]] double uniform(Key... key) const {
    return unit(hashed(key...));
  }
  /// Uniform in [0, n). REQUIRES: n > 0.
  template <KeyPart... Key>
  [[nodiscard]] std::uint64_t below(std::uint64_t n, Key... key) const {
    return hashed(key...) % n;
  }
  /// Mean 0, standard deviation 1, by the method of Box and Muller.
  template <KeyPart... Key>
  [[nodiscard]] double normal(Key... key) const {
    const std::uint64_t first = hashed(key...);
    const double radius = std::sqrt(-2.0 * std::log(unit(first)));
    return radius * std::cos(2.0 * std::numbers::pi * unit(mixed(first + kStep)));
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;  ///< 2^64 over the golden ratio, odd

  /// Every bit of the result depends on every bit of x: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
  static constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
  static constexpr double unit(std::uint64_t x) { return (static_cast<double>(x >> 11U) + 1.0) * 0x1.0p-53; }

  template <KeyPart... Key>
  [[nodiscard]] std::uint64_t hashed(Key... key) const {
    std::uint64_t h = seed_;
    ((h = mixed(h + kStep * (static_cast<std::uint64_t>(key) + 1))), ...);
    return h;
  }

  std::uint64_t seed_;
};

}  // namespace interlace::des
