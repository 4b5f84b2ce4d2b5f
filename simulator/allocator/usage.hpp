#pragma once

#include <optional>
#include <span>

#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

/// What one pool holds for one stream. No other stream can use its free memory until it goes back to the driver.
struct ArenaUsage {
  Stream stream = 0;
  PoolId pool;
  bool small = false;
  Bytes reserved = 0;                      ///< held of the driver
  Bytes allocated = 0;                     ///< in blocks in use
  Bytes active = 0;                        ///< in blocks in use or waiting for a stream
  Bytes largest_free = 0;                  ///< the largest free block
  std::optional<Nanoseconds> last_malloc;  ///< none: never, as far as this allocator saw

  [[nodiscard]] Bytes free() const { return reserved - active; }
};

/// Bytes held for `stream`, of all pools.
[[nodiscard]] Bytes reserved_bytes(std::span<const ArenaUsage> usage, Stream stream);

/// Free bytes of streams on which nothing was allocated since `since`: no other stream can have them.
[[nodiscard]] Bytes stranded_bytes(std::span<const ArenaUsage> usage, Nanoseconds since);

/// The largest free block of all.
[[nodiscard]] Bytes largest_free_block(std::span<const ArenaUsage> usage);

}  // namespace interlace::allocator
