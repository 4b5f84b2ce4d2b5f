#include "simulator/allocator/pools.hpp"

#include <algorithm>

namespace interlace::allocator {

PoolTable::PoolTable() { pools_ = {{.small = true}, {.small = false}}; }

ArenaId PoolTable::arena(PoolIndex pool, Stream stream) {
  auto& arenas = pools_[pool.index()].arenas;
  const auto found = std::ranges::lower_bound(arenas, stream, {}, &std::pair<Stream, ArenaId>::first);
  if (found != arenas.end() && found->first == stream) return found->second;
  const ArenaId made{static_cast<std::uint32_t>(arenas_.size())};
  Arena& arena = arenas_.emplace_back();
  arena.stream = stream;
  arena.pool = pool;
  arenas.emplace(found, stream, made);
  return made;
}

std::optional<PrivatePoolIndex> PoolTable::find(PoolId id) const {
  const auto found = std::ranges::find(private_pools_, id, &PrivatePool::id);
  if (found == private_pools_.end()) return std::nullopt;
  return PrivatePoolIndex{static_cast<std::uint32_t>(found - private_pools_.begin())};
}

PrivatePoolIndex PoolTable::add(PoolId id, const PoolOptions& options) {
  const PrivatePoolIndex made{static_cast<std::uint32_t>(private_pools_.size())};
  const PoolIndex small{static_cast<std::uint32_t>(pools_.size())};
  pools_.push_back({.small = true, .owner = made});
  pools_.push_back({.small = false, .owner = made});
  private_pools_.push_back({.id = id, .options = options, .users = 1, .small = small, .large = {small.value + 1}});
  return made;
}

PoolIndex PoolTable::pool(PoolId id, bool small) {
  if (id.is_default()) return small ? kDefaultSmall : kDefaultLarge;
  const auto found = find(id);
  const PrivatePool& pool = private_pools_[(found ? *found : add(id, {})).index()];
  return small ? pool.small : pool.large;
}

PoolId PoolTable::id_of(PoolIndex pool) const {
  const auto& owner = pools_[pool.index()].owner;
  return owner ? private_pools_[owner->index()].id : PoolId{};
}

}  // namespace interlace::allocator
