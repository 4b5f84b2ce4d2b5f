#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "simulator/allocator/block_table.hpp"
#include "simulator/allocator/free_list.hpp"
#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

using PoolIndex = Id<struct PoolTag>;
using PrivatePoolIndex = Id<struct PrivatePoolTag>;

/// What no other may use: the blocks of one pool on one stream.
struct Arena {
  Stream stream = 0;
  PoolIndex pool;
  FreeList free;
  std::vector<std::pair<Address, BlockId>> unmapped;  ///< by address
  Bytes reserved = 0;                                 ///< held of the driver
  Bytes allocated = 0;                                ///< in blocks in use
  Bytes active = 0;                                   ///< in blocks in use or pending
  std::optional<Nanoseconds> last_malloc;
};

/// The blocks of one size class, of the default pool or of a private one.
struct Pool {
  bool small = false;
  std::optional<PrivatePoolIndex> owner;           ///< none: the default pool
  std::int64_t searches = 0;                       ///< mallocs that looked here: the clock of garbage collection
  std::vector<std::pair<Stream, ArenaId>> arenas;  ///< by stream
};

struct PoolOptions {
  bool no_split = false;       ///< a segment is one block
  bool use_on_oom = false;     ///< its free blocks serve others before memory runs out
  bool own_allocator = false;  ///< a MemPool with an allocator of its own: never expandable
};

/// A pool that only its own graph captures or MemPool contexts allocate from.
struct PrivatePool {
  PoolId id;
  PoolOptions options;
  std::int64_t users = 0;  ///< graphs and contexts; at 0 its cached memory may be released
  PoolIndex small;
  PoolIndex large;
};

/// All pools of a device and their arenas. Rows stay for good: nothing is gained by forgetting an empty arena.
class PoolTable {
 public:
  static constexpr PoolIndex kDefaultSmall{0};
  static constexpr PoolIndex kDefaultLarge{1};

  PoolTable();

  [[nodiscard]] Pool& operator[](PoolIndex id) { return pools_[id.index()]; }
  [[nodiscard]] const Pool& operator[](PoolIndex id) const { return pools_[id.index()]; }
  [[nodiscard]] Arena& operator[](ArenaId id) { return arenas_[id.index()]; }
  [[nodiscard]] const Arena& operator[](ArenaId id) const { return arenas_[id.index()]; }
  [[nodiscard]] PrivatePool& operator[](PrivatePoolIndex id) { return private_pools_[id.index()]; }
  [[nodiscard]] const PrivatePool& operator[](PrivatePoolIndex id) const { return private_pools_[id.index()]; }

  /// The arena of `stream` in `pool`; made where there is none.
  [[nodiscard]] ArenaId arena(PoolIndex pool, Stream stream);

  [[nodiscard]] std::optional<PrivatePoolIndex> find(PoolId id) const;
  PrivatePoolIndex add(PoolId id, const PoolOptions& options);
  /// The default pool or the private pool of this id, which is made where there is none.
  [[nodiscard]] PoolIndex pool(PoolId id, bool small);
  [[nodiscard]] PoolId id_of(PoolIndex pool) const;

  [[nodiscard]] std::span<const Arena> arenas() const { return arenas_; }
  [[nodiscard]] std::span<const PrivatePool> private_pools() const { return private_pools_; }

 private:
  std::vector<Pool> pools_;
  std::vector<Arena> arenas_;
  std::vector<PrivatePool> private_pools_;  ///< in order of making
};

}  // namespace interlace::allocator
