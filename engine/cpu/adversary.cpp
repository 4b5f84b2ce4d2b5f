#include "engine/cpu/adversary.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace interlace::engine::cpu {

namespace {

// Weights last for 1, 2, 4, ... or this many choices: an iteration has some hundred.
constexpr std::uint64_t kLongestPhase = 64;

}  // namespace

Adversary::Adversary(std::optional<std::uint64_t> seed) {
  if (seed) random_.emplace(*seed);
}

std::size_t Adversary::pick(std::span<const std::size_t> ready) {
  assert(!ready.empty());
  if (!random_) return ready.front();
  if (left_ == 0) {
    weights_.clear();
    left_ = std::uint64_t{1} << ((*random_)() % std::bit_width(kLongestPhase));
  }
  --left_;
  while (weights_.size() <= ready.back()) weights_.push_back((*random_)());
  return *std::ranges::max_element(ready, {}, [&](std::size_t actor) { return weights_[actor]; });
}

}  // namespace interlace::engine::cpu
