// Recorded states in and out of the allocator.

#include <algorithm>
#include <cassert>
#include <utility>

#include "simulator/allocator/caching_allocator.hpp"

namespace interlace::allocator {

std::vector<ImportedBlock> CachingAllocator::import_state(const AllocatorState& state, std::string_view source) {
  assert(statistics_.num_device_alloc == 0);
  check_state(state, source);
  std::vector<ImportedBlock> live;
  std::vector<OpenRange> open;
  for (const SegmentRecord& segment : state.segments) {
    const ArenaId arena = pools_.arena(pools_.pool(segment.pool, segment.small), segment.stream);
    for (OpenRange& range : open) {
      if (range.arena == arena && segment.expandable) continue;
      range.segment.size = std::min(range.segment.size, static_cast<Bytes>(segment.address - range.segment.address));
    }
    count_imported_segment(segment, pools_[arena]);
    if (segment.expandable) {
      import_expandable(segment, arena, open, live);
    } else {
      import_blocks(segment, arena, std::nullopt, live);
    }
  }
  for (const OpenRange& range : open) close_range(range);
  blocks_.for_each([&](BlockId id) { count_imported_block(blocks_[id]); });
  for (const ImportedBlock& block : live) {
    if (block.record.status != BlockStatus::kPendingFree) continue;
    (completion_ == Completion::kNextMalloc ? done_ : waiting_).push_back(block.block);
  }
  statistics_.reset_peaks();
  return live;
}

/// Snapshots list the parts of an expandable segment that have memory: those of one arena that lie no farther apart
/// than one can reach are taken for parts of one.
void CachingAllocator::import_expandable(const SegmentRecord& segment, ArenaId arena, std::vector<OpenRange>& open,
                                         std::vector<ImportedBlock>& live) {
  const auto current = std::ranges::find(open, arena, &OpenRange::arena);
  const Address end = segment.address + static_cast<Address>(segment.size);
  if (current != open.end() && end <= current->segment.end()) {
    const BlockId gap = append_unmapped(current->last, segment.address);
    current->last = import_blocks(segment, arena, gap, live);
    return;
  }
  if (current != open.end()) {
    close_range(*current);
    open.erase(current);
  }
  const Bytes page = page_size(segment.small);
  const BlockId last = import_blocks(segment, arena, std::nullopt, live);
  open.push_back({arena, {segment.address, std::max(range_size(page), segment.size), page}, last});
}

/// The last block of the segment.
BlockId CachingAllocator::import_blocks(const SegmentRecord& segment, ArenaId arena, std::optional<BlockId> previous,
                                        std::vector<ImportedBlock>& live) {
  for (const BlockRecord& record : segment.blocks) {
    Block block{.address = record.address, .size = record.size, .previous = previous, .arena = arena};
    block.expandable = segment.expandable;
    const bool free = record.status == BlockStatus::kInactive;
    if (!free) {
      block.requested = record.requested;
      block.phase = record.status == BlockStatus::kAllocated ? BlockPhase::kAllocated : BlockPhase::kPending;
    }
    const BlockId id = blocks_.add(block);
    if (previous) blocks_[*previous].next = id;
    if (free) {
      put_in_free_list(id);
    } else {
      live.push_back({record, id});
    }
    previous = id;
  }
  return *previous;
}

/// An unmapped block from the end of `after` to `end`. Nothing, and `after` again, where there is no room.
BlockId CachingAllocator::append_unmapped(BlockId after, Address end) {
  if (blocks_[after].end() >= end) return after;
  Block gap{.address = blocks_[after].end(), .previous = after, .arena = blocks_[after].arena};
  gap.size = static_cast<Bytes>(end - gap.address);
  gap.expandable = true;
  const BlockId id = blocks_.add(gap);
  blocks_[after].next = id;
  put_in_unmapped(id);
  return id;
}

void CachingAllocator::close_range(const OpenRange& range) {
  append_unmapped(range.last, range.segment.end());
  add_expandable_segment(range.segment);
}

void CachingAllocator::count_imported_segment(const SegmentRecord& segment, Arena& arena) {
  memory_.adopt(segment.size);
  arena.reserved += segment.size;
  statistics_.reserved_bytes.increase(segment.small, segment.size);
  ++statistics_.num_device_alloc;
  if (segment.expandable) return;
  statistics_.segment.increase(segment.small, 1);
  if (segment.size >= configuration_.max_split_size) statistics_.oversize_segments.increase(1);
}

void CachingAllocator::count_imported_block(const Block& block) {
  Arena& arena = pools_[block.arena];
  const bool small = pools_[arena.pool].small;
  if (block.phase == BlockPhase::kUnmapped) return;
  if (block.phase == BlockPhase::kFree) {
    if (block.expandable || !block.is_split()) return;
    statistics_.inactive_split.increase(small, 1);
    statistics_.inactive_split_bytes.increase(small, block.size);
    return;
  }
  arena.active += block.size;
  statistics_.active.increase(small, 1);
  statistics_.active_bytes.increase(small, block.size);
  statistics_.requested_bytes.increase(small, block.requested);
  if (block.phase != BlockPhase::kAllocated) return;
  arena.allocated += block.size;
  statistics_.allocation.increase(small, 1);
  statistics_.allocated_bytes.increase(small, block.size);
  if (block.size >= configuration_.max_split_size) statistics_.oversize_allocations.increase(1);
}

AllocatorState CachingAllocator::export_state() const {
  AllocatorState state;
  const auto mapped = [&](std::optional<BlockId> id) { return id && blocks_[*id].phase != BlockPhase::kUnmapped; };
  blocks_.for_each([&](BlockId head) {
    if (!mapped(head) || mapped(blocks_[head].previous)) return;
    const Arena& arena = pools_[blocks_[head].arena];
    SegmentRecord segment{.address = blocks_[head].address,
                          .stream = arena.stream,
                          .small = pools_[arena.pool].small,
                          .pool = pools_.id_of(arena.pool),
                          .expandable = blocks_[head].expandable};
    for (std::optional<BlockId> at = head; mapped(at); at = blocks_[*at].next) {
      const Block& block = blocks_[*at];
      const BlockStatus status = block.phase == BlockPhase::kFree        ? BlockStatus::kInactive
                                 : block.phase == BlockPhase::kAllocated ? BlockStatus::kAllocated
                                                                         : BlockStatus::kPendingFree;
      segment.blocks.push_back({block.address, block.size, block.requested, status});
      segment.size += block.size;
    }
    state.segments.push_back(std::move(segment));
  });
  std::ranges::sort(state.segments, {}, &SegmentRecord::address);
  return state;
}

std::vector<BlockRecord> CachingAllocator::free_blocks(PoolId pool, bool small, Stream stream) const {
  std::vector<BlockRecord> found;
  for (const Arena& arena : pools_.arenas()) {
    if (arena.stream != stream || pools_[arena.pool].small != small || pools_.id_of(arena.pool) != pool) continue;
    for (auto at = arena.free.begin(); at != arena.free.end(); at = arena.free.next(at)) {
      found.push_back({arena.free[at].address, arena.free[at].size, 0, BlockStatus::kInactive});
    }
  }
  return found;
}

}  // namespace interlace::allocator
