#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/trace/trace.hpp"

namespace interlace::trace {

/// What makes a lane the same one.
struct LaneKey {
  LaneKind kind = LaneKind::kHostThread;
  RankId rank;
  std::int64_t process = 0;
  std::int64_t number = 0;
  bool operator==(const LaneKey&) const = default;
};

struct LaneKeyHash {
  std::size_t operator()(const LaneKey& key) const noexcept {
    std::size_t hash = static_cast<std::size_t>(key.number) * 0x9E3779B97F4A7C15ULL;
    hash ^= (static_cast<std::size_t>(key.process) << 7U) + (hash >> 29U);
    return hash * 31U + key.rank.index() * 2U + static_cast<std::size_t>(key.kind);
  }
};

}  // namespace interlace::trace
