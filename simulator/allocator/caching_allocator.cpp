#include "simulator/allocator/caching_allocator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "simulator/allocator/size_class.hpp"

namespace interlace::allocator {

namespace {

std::optional<Bytes> cap_of(const Configuration& configuration, const DriverMemory& memory) {
  if (configuration.per_process_memory_fraction >= 1) return std::nullopt;
  if (!memory.total()) {
    throw Error(kUnknownCapacity, "per_process_memory_fraction", "the size of the device's memory is not known",
                "say how large it is, or leave the option out");
  }
  return static_cast<Bytes>(configuration.per_process_memory_fraction * static_cast<double>(*memory.total()));
}

}  // namespace

CachingAllocator::CachingAllocator(const Configuration& configuration, DriverMemory memory, Completion completion)
    : configuration_(configuration),
      memory_(std::move(memory)),
      completion_(completion),
      cap_(cap_of(configuration, memory_)) {}

void CachingAllocator::trace(Action action, Address address, Bytes size, const Arena& arena, Nanoseconds now) const {
  if (observer_) observer_({action, address, size, arena.stream, pools_.id_of(arena.pool), now});
}

MallocResult CachingAllocator::malloc(Bytes requested, Stream stream, Nanoseconds now) {
  assert(requested > 0);
  if (routes_.empty()) process_events(now);
  Request request = request_for(requested, stream);
  MallocResult result;
  std::optional<BlockId> block = best_fit(request);
  const std::int64_t device_allocs = statistics_.num_device_alloc;
  if (!block) block = obtain(request, stream, now, result);
  Arena& arena = pools_[request.arena];
  arena.last_malloc = now;
  if (!block) {
    ++statistics_.num_ooms;
    trace(Action::kOom, static_cast<Address>(memory_.free().value_or(0)), request.rounded, arena, now);
    return result;
  }
  hand_out(*block, request, requested, now);
  result.allocation = {*block, blocks_[*block].address, blocks_[*block].size,
                       statistics_.num_device_alloc > device_allocs};
  return result;
}

std::optional<BlockId> CachingAllocator::obtain(Request& request, Stream stream, Nanoseconds now,
                                                MallocResult& result) {
  if (request.rounded > DriverMemory::kLargestSegment) return std::nullopt;
  if (cap_ && configuration_.garbage_collection_threshold > 0) collect_garbage(now);
  std::optional<BlockId> block = get_segment(request, now);
  if (!block) block = take_from_overflow_pools(request, stream);
  if (!block && release_oversize_blocks(request, now)) block = get_segment(request, now);
  if (!block && routes_.empty()) {
    result.synchronised = true;
    result.waited_until = release_cached_blocks(now);
    ++statistics_.num_alloc_retries;
    block = get_segment(request, now);
  }
  return block;
}

PoolIndex CachingAllocator::pool_for(bool small, Stream stream) const {
  const auto route = std::find_if(routes_.rbegin(), routes_.rend(), [&](const Route& r) { return r.takes(stream); });
  if (route != routes_.rend()) return small ? pools_[route->pool].small : pools_[route->pool].large;
  return small ? PoolTable::kDefaultSmall : PoolTable::kDefaultLarge;
}

CachingAllocator::Request CachingAllocator::request_for(Bytes requested, Stream stream) {
  Request request;
  request.rounded = round_size(requested, configuration_);
  request.segment = segment_size(request.rounded, configuration_);
  request.small = is_small(request.rounded);
  const PoolIndex pool = pool_for(request.small, stream);
  request.arena = pools_.arena(pool, stream);
  const auto& owner = pools_[pool].owner;
  request.expandable = configuration_.expandable_segments && !(owner && pools_[*owner].options.own_allocator);
  return request;
}

std::optional<BlockId> CachingAllocator::best_fit(const Request& request) {
  Arena& arena = pools_[request.arena];
  if (cap_ && configuration_.garbage_collection_threshold > 0) ++pools_[arena.pool].searches;
  FreeList::Position position = arena.free.lower_bound(request.rounded);
  if (position == arena.free.end()) return std::nullopt;
  if (!expandable_segments_.empty()) {
    if (request.expandable) {
      position = prefer_less_growable(arena.free, position);
    } else {
      while (position != arena.free.end() && blocks_[arena.free[position].block].expandable) {
        position = arena.free.next(position);
      }
      if (position == arena.free.end()) return std::nullopt;
    }
  }
  const FreeList::Entry found = arena.free[position];
  const bool oversize = request.rounded >= configuration_.max_split_size;
  if (!oversize && found.size >= configuration_.max_split_size) return std::nullopt;
  if (oversize && found.size - request.rounded >= configuration_.max_non_split_rounding) return std::nullopt;
  arena.free.erase(position);
  return found.block;
}

std::optional<BlockId> CachingAllocator::get_segment(const Request& request, Nanoseconds now) {
  if (cap_ && statistics_.reserved_bytes.all.current + request.segment > *cap_) return std::nullopt;
  if (request.expandable) return grow_expandable(request, now);
  const std::optional<Address> address = memory_.allocate(request.segment);
  if (!address) return std::nullopt;
  Arena& arena = pools_[request.arena];
  arena.reserved += request.segment;
  statistics_.segment.increase(request.small, 1);
  statistics_.reserved_bytes.increase(request.small, request.segment);
  if (request.segment >= configuration_.max_split_size) statistics_.oversize_segments.increase(1);
  ++statistics_.num_device_alloc;
  trace(Action::kSegmentAlloc, *address, request.segment, arena, now);
  return blocks_.add({.address = *address, .size = request.segment, .arena = request.arena});
}

std::optional<BlockId> CachingAllocator::take_from_overflow_pools(Request& request, Stream stream) {
  if (pools_[pools_[request.arena].pool].owner) return std::nullopt;
  for (const PrivatePool& pool : pools_.private_pools()) {
    if (!pool.options.use_on_oom) continue;
    Request other = request;
    other.arena = pools_.arena(request.small ? pool.small : pool.large, stream);
    other.expandable = false;
    if (const std::optional<BlockId> block = best_fit(other)) {
      request = other;
      return block;
    }
  }
  return std::nullopt;
}

bool CachingAllocator::should_split(const Block& block, const Request& request) const {
  const auto& owner = pools_[pools_[block.arena].pool].owner;
  if (owner && pools_[*owner].options.no_split) return false;
  const Bytes rest = block.size - request.rounded;
  if (request.small || request.expandable) return rest >= kMinBlockSize;
  return request.rounded < configuration_.max_split_size && rest > kSmallSize;
}

void CachingAllocator::hand_out(BlockId id, const Request& request, Bytes requested, Nanoseconds now) {
  const bool small = request.small;
  const bool was_split = blocks_[id].is_split();
  const bool split = should_split(blocks_[id], request);
  if (split) {
    Block rest = blocks_[id];
    rest.address += static_cast<Address>(request.rounded);
    rest.size -= request.rounded;
    rest.previous = id;
    const BlockId rest_id = blocks_.add(rest);
    if (rest.next) blocks_[*rest.next].previous = rest_id;
    blocks_[id].size = request.rounded;
    blocks_[id].next = rest_id;
    put_in_free_list(rest_id);
  }
  Block& block = blocks_[id];
  if (!block.expandable) {
    if (was_split) statistics_.inactive_split_bytes.decrease(small, block.size);
    if (was_split && !split) statistics_.inactive_split.decrease(small, 1);
    if (!was_split && split) {
      statistics_.inactive_split_bytes.increase(small, blocks_[*block.next].size);
      statistics_.inactive_split.increase(small, 1);
    }
  }
  block.phase = BlockPhase::kAllocated;
  block.requested = requested;
  Arena& arena = pools_[block.arena];
  arena.allocated += block.size;
  arena.active += block.size;
  statistics_.allocation.increase(small, 1);
  statistics_.allocated_bytes.increase(small, block.size);
  statistics_.active.increase(small, 1);
  statistics_.active_bytes.increase(small, block.size);
  statistics_.requested_bytes.increase(small, requested);
  if (block.size >= configuration_.max_split_size) statistics_.oversize_allocations.increase(1);
  trace(Action::kAlloc, block.address, requested, arena, now);
}

void CachingAllocator::free(BlockId id, Nanoseconds now, std::span<const StreamUse> uses) {
  Block& block = blocks_[id];
  assert(block.phase == BlockPhase::kAllocated);
  block.phase = BlockPhase::kPending;
  Arena& arena = pools_[block.arena];
  const bool small = pools_[arena.pool].small;
  arena.allocated -= block.size;
  statistics_.allocation.decrease(small, 1);
  statistics_.allocated_bytes.decrease(small, block.size);
  if (block.size >= configuration_.max_split_size) statistics_.oversize_allocations.decrease(1);
  trace(Action::kFreeRequested, block.address, block.requested, arena, now);

  if (completion_ == Completion::kDriven) {
    waiting_.push_back(id);
    return;
  }
  if (std::ranges::all_of(uses, [&](const StreamUse& use) { return use.stream == arena.stream; })) {
    complete_free(id, now);
  } else if (routes_.empty()) {
    record_events(id, uses);
  } else {
    deferred_.push_back({id, {uses.begin(), uses.end()}});
  }
}

void CachingAllocator::record_events(BlockId id, std::span<const StreamUse> uses) {
  Block& block = blocks_[id];
  for (auto use = uses.begin(); use != uses.end(); ++use) {
    if (use->stream == pools_[block.arena].stream) continue;
    const auto same = [&](const StreamUse& other) { return other.stream == use->stream; };
    if (std::any_of(uses.begin(), use, same)) continue;  // the first of a stream stands for all
    Nanoseconds done_at = use->drained_at;
    for (const StreamUse& other : uses) {
      if (same(other)) done_at = std::max(done_at, other.drained_at);
    }
    if (completion_ == Completion::kNextMalloc) done_at = std::numeric_limits<Nanoseconds>::min();
    if (completion_ == Completion::kSynchronise) done_at = std::numeric_limits<Nanoseconds>::max();
    ++block.open_events;
    events_.push(use->stream, {done_at, id});
  }
}

void CachingAllocator::process_events(Nanoseconds now) {
  if (!deferred_.empty()) {
    for (const Deferred& deferred : deferred_) record_events(deferred.block, deferred.uses);
    deferred_.clear();
  }
  if (!done_.empty()) {
    for (const BlockId block : done_) complete_free(block, now);
    done_.clear();
  }
  if (!events_.empty()) events_.poll(now, [&](BlockId block) { event_done(block, now); });
}

void CachingAllocator::event_done(BlockId block, Nanoseconds now) {
  if (--blocks_[block].open_events == 0) complete_free(block, now);
}

void CachingAllocator::forget_waiting(BlockId block) {
  for (std::vector<BlockId>* blocks : {&waiting_, &done_}) {
    const auto found = std::ranges::find(*blocks, block);
    if (found != blocks->end()) {
      blocks->erase(found);
      return;
    }
  }
  assert(false);  // it was not pending, or waits for events
}

void CachingAllocator::complete(BlockId block, Nanoseconds now) {
  forget_waiting(block);
  complete_free(block, now);
}

void CachingAllocator::expect_events(BlockId block, std::span<const StreamUse> uses) {
  assert(completion_ != Completion::kDriven);
  if (std::ranges::all_of(uses,
                          [&](const StreamUse& use) { return use.stream == pools_[blocks_[block].arena].stream; })) {
    return;
  }
  forget_waiting(block);
  record_events(block, uses);
}

void CachingAllocator::synchronise() {
  if (completion_ == Completion::kDriven) return;
  done_.insert(done_.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  events_.all_done();
}

void CachingAllocator::complete_free(BlockId id, Nanoseconds now) {
  Block& block = blocks_[id];
  assert(block.phase == BlockPhase::kPending && block.open_events == 0);
  Arena& arena = pools_[block.arena];
  const bool small = pools_[arena.pool].small;
  const Bytes size = block.size;
  const Bytes requested = block.requested;
  trace(Action::kFreeCompleted, block.address, requested, arena, now);
  block.phase = BlockPhase::kFree;
  block.requested = 0;

  std::int64_t split_blocks = 0;
  std::int64_t split_bytes = 0;
  for (const std::optional<BlockId>& neighbour : std::array{block.previous, block.next}) {
    const Bytes merged = merge(id, neighbour);
    if (merged > 0) --split_blocks;
    split_bytes -= merged;
  }
  put_in_free_list(id);
  if (block.is_split()) {
    ++split_blocks;
    split_bytes += block.size;
  }
  if (!block.expandable) {
    if (split_blocks > 0) statistics_.inactive_split.increase(small, split_blocks);
    if (split_blocks < 0) statistics_.inactive_split.decrease(small, -split_blocks);
    if (split_bytes > 0) statistics_.inactive_split_bytes.increase(small, split_bytes);
    if (split_bytes < 0) statistics_.inactive_split_bytes.decrease(small, -split_bytes);
  }
  arena.active -= size;
  statistics_.active.decrease(small, 1);
  statistics_.active_bytes.decrease(small, size);
  statistics_.requested_bytes.decrease(small, requested);
}

/// Takes a neighbour in the same phase (free or unmapped) into `into`, which is in no list itself. The bytes that came.
Bytes CachingAllocator::merge(BlockId into, std::optional<BlockId> neighbour) {
  Block& block = blocks_[into];
  if (!neighbour || blocks_[*neighbour].phase != block.phase) return 0;
  const Block other = blocks_[*neighbour];
  if (other.phase == BlockPhase::kFree) {
    take_from_free_list(*neighbour);
  } else {
    take_from_unmapped(*neighbour);
  }
  if (block.previous == neighbour) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous) blocks_[*block.previous].next = into;
  } else {
    block.next = other.next;
    if (block.next) blocks_[*block.next].previous = into;
  }
  block.size += other.size;
  blocks_.remove(*neighbour);
  return other.size;
}

void CachingAllocator::put_in_free_list(BlockId id) {
  Block& block = blocks_[id];
  Arena& arena = pools_[block.arena];
  block.phase = BlockPhase::kFree;
  block.age_base = pools_[arena.pool].searches;
  arena.free.insert({block.size, block.address, id});
}

void CachingAllocator::take_from_free_list(BlockId id) {
  const Block& block = blocks_[id];
  pools_[block.arena].free.erase(block.size, block.address);
}

void CachingAllocator::set_pool_options(PoolId pool, const PoolOptions& options) {
  const auto found = pools_.find(pool);
  if (found) {
    pools_[*found].options = options;
  } else {
    pools_.add(pool, options);
  }
}

void CachingAllocator::begin_allocate_to_pool(PoolId pool, std::function<bool(Stream)> takes) {
  assert(!pool.is_default());
  auto found = pools_.find(pool);
  if (found) {
    ++pools_[*found].users;
  } else {
    found = pools_.add(pool, {});
  }
  routes_.push_back({*found, std::move(takes)});
}

void CachingAllocator::end_allocate_to_pool(PoolId pool) {
  const auto route = std::ranges::find_if(routes_, [&](const Route& r) { return pools_[r.pool].id == pool; });
  assert(route != routes_.end());
  routes_.erase(route);
}

void CachingAllocator::release_pool(PoolId pool) {
  const auto found = pools_.find(pool);
  assert(found && pools_[*found].users > 0);
  --pools_[*found].users;
}

std::vector<ArenaUsage> CachingAllocator::usage() const {
  std::vector<ArenaUsage> rows;
  const auto add = [&](PoolIndex pool) {
    for (const auto& [stream, id] : pools_[pool].arenas) {
      const Arena& arena = pools_[id];
      rows.push_back({stream, pools_.id_of(pool), pools_[pool].small, arena.reserved, arena.allocated, arena.active,
                      arena.free.largest(), arena.last_malloc});
    }
  };
  add(PoolTable::kDefaultSmall);
  add(PoolTable::kDefaultLarge);
  for (const PrivatePool& pool : pools_.private_pools()) {
    add(pool.small);
    add(pool.large);
  }
  return rows;
}

}  // namespace interlace::allocator
