// Expandable segments: a range of addresses larger than the device's memory for one arena, which gets memory page by
// page. Blocks without memory ("unmapped") stand in the segment's list like others, merge among themselves, and are
// kept by address beside the arena's free list.

#include <algorithm>
#include <cassert>

#include "simulator/allocator/caching_allocator.hpp"
#include "simulator/allocator/size_class.hpp"

namespace interlace::allocator {

namespace {

/// Of a device whose memory is not known.
constexpr Bytes kUnknownTotal = 512 * kGiB;

}  // namespace

Bytes CachingAllocator::page_size(bool small) const {
  return small ? kSmallSegmentSize : configuration_.large_segment_size;
}

/// Nine eighths of the device's memory, in whole pages: room to map afresh at the end while pages before are unused.
Bytes CachingAllocator::range_size(Bytes page) const {
  const Bytes total = std::min(memory_.total().value_or(kUnknownTotal), DriverMemory::kLargestSegment);
  return std::min((total + total / 8 + page - 1) / page, DriverMemory::kLargestSegment / page) * page;
}

/// A block that ends where memory could be added counts as large as it could grow: of the fitting blocks in order of
/// size, steps on while the next could become less than this one.
FreeList::Position CachingAllocator::prefer_less_growable(const FreeList& free, FreeList::Position position) const {
  const auto growable_size = [&](FreeList::Position at) {
    const Block& block = blocks_[free[at].block];
    const bool grows = block.next && blocks_[*block.next].phase == BlockPhase::kUnmapped;
    return block.size + (grows ? blocks_[*block.next].size : 0);
  };
  while (blocks_[free[position].block].expandable) {
    const FreeList::Position next = free.next(position);
    if (next == free.end() || growable_size(next) >= growable_size(position)) break;
    position = next;
  }
  return position;
}

/// Puts memory where the request fits. Memory that was added before the driver refused stays, as free blocks.
std::optional<BlockId> CachingAllocator::grow_expandable(const Request& request, Nanoseconds now) {
  BlockId block = find_room(request);
  if (blocks_[block].phase == BlockPhase::kUnmapped &&
      !map(block, std::min(blocks_[block].size, request.rounded), now)) {
    return std::nullopt;
  }
  while (blocks_[block].size < request.rounded) {
    if (!blocks_[block].next) return std::nullopt;  // a request for more than the whole range
    const BlockId next = *blocks_[block].next;      // unmapped; takes `block` in when it gets memory
    if (!map(next, std::min(request.rounded - blocks_[block].size, blocks_[next].size), now)) return std::nullopt;
    block = next;
  }
  take_from_free_list(block);
  return block;
}

/// The lowest run of free and unmapped blocks of the arena that is long enough; a new segment where there is none.
BlockId CachingAllocator::find_room(const Request& request) {
  for (const auto& [address, unmapped] : pools_[request.arena].unmapped) {
    const auto& previous = blocks_[unmapped].previous;
    const bool from_previous = previous && blocks_[*previous].phase == BlockPhase::kFree;
    const BlockId start = from_previous ? *previous : unmapped;
    if (has_room(start, request.rounded)) return start;
  }
  return new_expandable_segment(request.arena, request.small);
}

bool CachingAllocator::has_room(BlockId start, Bytes size) const {
  Bytes room = 0;
  for (std::optional<BlockId> at = start; at && room < size; at = blocks_[*at].next) {
    const BlockPhase phase = blocks_[*at].phase;
    if (phase != BlockPhase::kFree && phase != BlockPhase::kUnmapped) break;
    room += blocks_[*at].size;
  }
  return room >= size;
}

BlockId CachingAllocator::new_expandable_segment(ArenaId arena, bool small) {
  const Bytes page = page_size(small);
  const Bytes size = range_size(page);
  const Address address = memory_.reserve_range(size);
  add_expandable_segment({address, size, page});
  const BlockId block = blocks_.add({.address = address, .size = size, .arena = arena, .expandable = true});
  put_in_unmapped(block);
  return block;
}

void CachingAllocator::add_expandable_segment(const ExpandableSegment& segment) {
  const auto at = std::ranges::lower_bound(expandable_segments_, segment.address, {}, &ExpandableSegment::address);
  expandable_segments_.insert(at, segment);
}

const CachingAllocator::ExpandableSegment& CachingAllocator::expandable_segment_of(Address address) const {
  const auto after = std::ranges::upper_bound(expandable_segments_, address, {}, &ExpandableSegment::address);
  assert(after != expandable_segments_.begin());
  return *(after - 1);
}

/// Gives an unmapped block memory for its first `size` bytes, in whole pages. The block is then free, merged with its
/// free neighbours. False: the driver has no memory left, and nothing changed.
bool CachingAllocator::map(BlockId id, Bytes size, Nanoseconds now) {
  const Address address = blocks_[id].address;
  const Bytes page = expandable_segment_of(address).page;
  const Bytes mapped = std::min((size + page - 1) / page * page, blocks_[id].size);
  if (!memory_.map(mapped)) return false;
  take_from_unmapped(id);
  if (mapped < blocks_[id].size) {
    Block rest = blocks_[id];
    rest.address += static_cast<Address>(mapped);
    rest.size -= mapped;
    rest.previous = id;
    const BlockId rest_id = blocks_.add(rest);
    if (rest.next) blocks_[*rest.next].previous = rest_id;
    blocks_[id].size = mapped;
    blocks_[id].next = rest_id;
    put_in_unmapped(rest_id);
  }
  blocks_[id].phase = BlockPhase::kFree;
  merge(id, blocks_[id].previous);
  merge(id, blocks_[id].next);
  put_in_free_list(id);

  Arena& arena = pools_[blocks_[id].arena];
  arena.reserved += mapped;
  statistics_.reserved_bytes.increase(pools_[arena.pool].small, mapped);
  ++statistics_.num_device_alloc;
  trace(Action::kSegmentMap, address, mapped, arena, now);
  return true;
}

/// Takes the memory of all pages that lie wholly inside a free block; what is left at its ends stays free. A segment
/// without memory is given up.
void CachingAllocator::unmap_whole_pages(BlockId id, Nanoseconds now) {
  const Block whole = blocks_[id];
  const ExpandableSegment segment = expandable_segment_of(whole.address);
  const auto page = static_cast<Address>(segment.page);
  const Address begin = segment.address + (whole.address - segment.address + page - 1) / page * page;
  const Address end = segment.address + (whole.end() - segment.address) / page * page;
  if (begin >= end) return;
  const auto size = static_cast<Bytes>(end - begin);
  take_from_free_list(id);

  if (begin > whole.address) {
    Block before = whole;
    before.size = static_cast<Bytes>(begin - whole.address);
    before.next = id;
    const BlockId before_id = blocks_.add(before);
    if (before.previous) blocks_[*before.previous].next = before_id;
    blocks_[id].previous = before_id;
    put_in_free_list(before_id);
  }
  if (end < whole.end()) {
    Block after = whole;
    after.address = end;
    after.size = static_cast<Bytes>(whole.end() - end);
    after.previous = id;
    const BlockId after_id = blocks_.add(after);
    if (after.next) blocks_[*after.next].previous = after_id;
    blocks_[id].next = after_id;
    put_in_free_list(after_id);
  }
  blocks_[id].address = begin;
  blocks_[id].size = size;
  blocks_[id].phase = BlockPhase::kUnmapped;
  merge(id, blocks_[id].previous);
  merge(id, blocks_[id].next);
  put_in_unmapped(id);

  Arena& arena = pools_[whole.arena];
  memory_.unmap(size);
  arena.reserved -= size;
  statistics_.reserved_bytes.decrease(pools_[arena.pool].small, size);
  ++statistics_.num_device_free;
  trace(Action::kSegmentUnmap, begin, size, arena, now);
  if (!blocks_[id].is_split()) {
    take_from_unmapped(id);
    blocks_.remove(id);
    memory_.release_range(segment.address);
    std::erase_if(expandable_segments_, [&](const ExpandableSegment& s) { return s.address == segment.address; });
  }
}

void CachingAllocator::put_in_unmapped(BlockId id) {
  Block& block = blocks_[id];
  block.phase = BlockPhase::kUnmapped;
  auto& unmapped = pools_[block.arena].unmapped;
  const std::pair<Address, BlockId> entry{block.address, id};
  unmapped.insert(std::ranges::lower_bound(unmapped, entry), entry);
}

void CachingAllocator::take_from_unmapped(BlockId id) {
  auto& unmapped = pools_[blocks_[id].arena].unmapped;
  const auto found = std::ranges::lower_bound(unmapped, std::pair{blocks_[id].address, id});
  assert(found != unmapped.end() && found->second == id);
  unmapped.erase(found);
}

}  // namespace interlace::allocator
