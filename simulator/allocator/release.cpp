// How cached memory goes back to the driver.

#include <cassert>
#include <optional>
#include <vector>

#include "simulator/allocator/caching_allocator.hpp"

namespace interlace::allocator {

/// Above the threshold, releases whole free segments of the default large pool by age, the count of searches since
/// they became free: round after round those of at least the mean age, until enough is released. No synchronising.
void CachingAllocator::collect_garbage(Nanoseconds now) {
  const auto threshold = static_cast<Bytes>(configuration_.garbage_collection_threshold * static_cast<double>(*cap_));
  const Bytes target = statistics_.reserved_bytes.all.current - threshold;
  if (target <= 0) return;
  const Pool& pool = pools_[PoolTable::kDefaultLarge];
  const auto age = [&](const Block& block) { return pool.searches - block.age_base; };
  std::vector<BlockId> candidates;  // those of expandable segments count, but stay
  std::int64_t total_age = 0;
  for (const auto& [stream, arena] : pool.arenas) {
    const FreeList& free = pools_[arena].free;
    for (auto position = free.begin(); position != free.end(); position = free.next(position)) {
      const BlockId id = free[position].block;
      if (blocks_[id].is_split()) continue;
      candidates.push_back(id);
      total_age += age(blocks_[id]);
    }
  }
  Bytes released = 0;
  bool progress = true;
  while (released < target && progress && !candidates.empty()) {
    const double mean = static_cast<double>(total_age) / static_cast<double>(candidates.size());
    progress = false;
    std::vector<BlockId> kept;
    for (const BlockId id : candidates) {
      const Block& block = blocks_[id];
      if (block.expandable || static_cast<double>(age(block)) < mean) {
        kept.push_back(id);
        continue;
      }
      progress = true;
      released += block.size;
      total_age -= age(block);
      take_from_free_list(id);
      release_segment(id, now);
    }
    candidates = std::move(kept);
  }
}

/// With max_split_size set: releases one oversize block that is large enough, or else as many as it takes, largest
/// first, of the request's own arena. True: enough was released to try again.
bool CachingAllocator::release_oversize_blocks(const Request& request, Nanoseconds now) {
  if (configuration_.max_split_size == Configuration::kUnlimited) return false;
  FreeList& free = pools_[request.arena].free;
  const Bytes wanted = std::max(request.rounded, configuration_.max_split_size);
  const FreeList::Position found = free.lower_bound(wanted);
  if (found != free.end() && !blocks_[free[found].block].expandable) {
    const BlockId block = free[found].block;
    free.erase(found);
    release_segment(block, now);
    return true;
  }
  std::vector<BlockId> chosen;
  Bytes released = 0;
  for (auto position = free.previous(found); position && released < wanted; position = free.previous(*position)) {
    const FreeList::Entry& entry = free[*position];
    if (entry.size < configuration_.max_split_size) break;
    if (blocks_[entry.block].expandable) continue;
    released += entry.size;
    chosen.push_back(entry.block);
  }
  for (const BlockId block : chosen) {
    take_from_free_list(block);
    release_segment(block, now);
  }
  return released >= wanted;
}

std::optional<Nanoseconds> CachingAllocator::empty_cache(Nanoseconds now) { return release_cached_blocks(now); }

std::optional<Nanoseconds> CachingAllocator::release_cached_blocks(Nanoseconds now) {
  std::optional<Nanoseconds> waited_until;
  if (routes_.empty()) {
    waited_until = synchronise_and_complete(now);
    release_blocks(PoolTable::kDefaultLarge, now);
    release_blocks(PoolTable::kDefaultSmall, now);
  }
  for (const PrivatePool& pool : pools_.private_pools()) {
    if (pool.users > 0) continue;
    release_blocks(pool.small, now);
    release_blocks(pool.large, now);
  }
  return waited_until;
}

std::optional<Nanoseconds> CachingAllocator::synchronise_and_complete(Nanoseconds now) {
  ++statistics_.num_sync_all_streams;
  for (const Deferred& deferred : deferred_) record_events(deferred.block, deferred.uses);
  deferred_.clear();
  for (std::vector<BlockId>* blocks : {&done_, &waiting_}) {
    for (const BlockId block : *blocks) complete_free(block, now);
    blocks->clear();
  }
  return events_.drain([&](BlockId block) { event_done(block, now); });
}

void CachingAllocator::release_blocks(PoolIndex pool, Nanoseconds now) {
  std::vector<BlockId> whole;
  std::vector<BlockId> expandable;
  for (const auto& [stream, arena] : pools_[pool].arenas) {
    const FreeList& free = pools_[arena].free;
    for (auto position = free.begin(); position != free.end(); position = free.next(position)) {
      const BlockId id = free[position].block;
      if (blocks_[id].expandable) {
        expandable.push_back(id);
      } else if (!blocks_[id].is_split()) {
        whole.push_back(id);
      }
    }
  }
  for (const BlockId id : whole) {
    take_from_free_list(id);
    release_segment(id, now);
  }
  for (const BlockId id : expandable) unmap_whole_pages(id, now);
}

/// REQUIRES: a free block that is a whole segment and in no list.
void CachingAllocator::release_segment(BlockId id, Nanoseconds now) {
  const Block& block = blocks_[id];
  assert(!block.is_split() && !block.expandable);
  Arena& arena = pools_[block.arena];
  const bool small = pools_[arena.pool].small;
  ++statistics_.num_device_free;
  trace(Action::kSegmentFree, block.address, block.size, arena, now);
  memory_.release(block.address, block.size);
  arena.reserved -= block.size;
  statistics_.segment.decrease(small, 1);
  statistics_.reserved_bytes.decrease(small, block.size);
  if (block.size >= configuration_.max_split_size) statistics_.oversize_segments.decrease(1);
  blocks_.remove(id);
}

}  // namespace interlace::allocator
