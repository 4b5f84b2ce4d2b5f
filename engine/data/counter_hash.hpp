#pragma once

#include <cstdint>

namespace interlace::engine {

/// Random bits that depend on nothing but their number: the same on every device, rank and thread, in any order. The
/// finaliser of SplitMix64 (Steele, Lea, Flood 2014) over a Weyl sequence.
[[nodiscard]] constexpr std::uint64_t counter_hash(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t bits = seed + 0x9e3779b97f4a7c15U * (counter + 1);
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

/// Uniform in [-bound, bound), by 24 random bits: exact in float.
[[nodiscard]] constexpr float uniform(std::uint64_t bits, float bound) {
  constexpr float kStep = 1.0F / static_cast<float>(1U << 23U);
  return (static_cast<float>(bits >> 40U) * kStep - 1.0F) * bound;
}

/// A seed for one of several things that are drawn under the same seed.
[[nodiscard]] constexpr std::uint64_t subseed(std::uint64_t seed, std::uint64_t which) {
  return counter_hash(seed ^ 0xd1b54a32d192ed03U, which);
}

}  // namespace interlace::engine
