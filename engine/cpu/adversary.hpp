#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace interlace::engine::cpu {

/// Decides which of the actors that could go on does so next: hosts and streams. A GPU promises nothing about the order
/// of streams that do not wait for each other, so every choice is allowed, and a schedule is right only if its numbers
/// are the same for all.
///
/// With a seed: each actor has a random weight, the heaviest goes first, and after a while, whose length is random too,
/// all weights are drawn anew. So one actor can be held back while the others run far ahead, which a fair coin at each
/// choice would hardly ever show (priorities that change at random points find ordering bugs of small depth with known
/// odds), and now and then choices are fair coins. Without a seed: the first, which makes work run as soon as it can.
class Adversary {
 public:
  explicit Adversary(std::optional<std::uint64_t> seed);

  /// One of `ready`, which is not empty and sorted.
  [[nodiscard]] std::size_t pick(std::span<const std::size_t> ready);

 private:
  std::optional<std::mt19937_64> random_;
  std::vector<std::uint64_t> weights_;
  std::uint64_t left_ = 0;  ///< choices for which the weights last
};

}  // namespace interlace::engine::cpu
