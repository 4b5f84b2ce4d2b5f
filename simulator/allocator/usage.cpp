#include "simulator/allocator/usage.hpp"

#include <algorithm>

namespace interlace::allocator {

Bytes reserved_bytes(std::span<const ArenaUsage> usage, Stream stream) {
  Bytes sum = 0;
  for (const ArenaUsage& arena : usage) {
    if (arena.stream == stream) sum += arena.reserved;
  }
  return sum;
}

Bytes stranded_bytes(std::span<const ArenaUsage> usage, Nanoseconds since) {
  const auto in_use = [&](Stream stream) {
    return std::ranges::any_of(usage, [&](const ArenaUsage& arena) {
      return arena.stream == stream && arena.last_malloc && *arena.last_malloc >= since;
    });
  };
  Bytes sum = 0;
  for (const ArenaUsage& arena : usage) {
    if (!in_use(arena.stream)) sum += arena.free();
  }
  return sum;
}

Bytes largest_free_block(std::span<const ArenaUsage> usage) {
  Bytes largest = 0;
  for (const ArenaUsage& arena : usage) largest = std::max(largest, arena.largest_free);
  return largest;
}

}  // namespace interlace::allocator
