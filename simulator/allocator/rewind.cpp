#include "simulator/allocator/rewind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "simulator/allocator/size_class.hpp"

namespace interlace::allocator {

namespace {

Address end_of(Address address, Bytes size) { return address + static_cast<Address>(size); }

/// Walks a history backwards. Holds segments without their blocks, and the blocks that are not free.
class Rewinder {
 public:
  Rewinder(const AllocatorState& after, const Configuration& configuration, std::string_view source,
           Diagnostics& diagnostics)
      : configuration_(configuration), source_(source), diagnostics_(diagnostics) {
    for (const SegmentRecord& segment : after.segments) {
      for (const BlockRecord& block : segment.blocks) {
        if (block.status != BlockStatus::kInactive) live_.emplace(block.address, block);
      }
      SegmentRecord bare = segment;
      bare.blocks.clear();
      segments_.emplace(segment.address, std::move(bare));
    }
  }

  void undo(const TraceEntry& entry) {
    switch (entry.action) {
      case Action::kAlloc: undo_alloc(entry); break;
      case Action::kFreeRequested: undo_free_requested(entry); break;
      case Action::kFreeCompleted: undo_free_completed(entry); break;
      case Action::kSegmentAlloc: undo_segment_alloc(entry); break;
      case Action::kSegmentFree: undo_segment_free(entry); break;
      case Action::kSegmentMap: undo_map(entry); break;
      case Action::kSegmentUnmap: undo_unmap(entry); break;
      case Action::kOom: break;
    }
  }

  AllocatorState state() {
    AllocatorState state;
    for (auto& [address, segment] : segments_) {
      Address next = address;
      const Address end = end_of(address, segment.size);
      for (auto block = live_.lower_bound(address); block != live_.end() && block->first < end; ++block) {
        fill_gap(segment, next, block->first);
        segment.blocks.push_back(block->second);
        next = end_of(block->first, block->second.size);
      }
      fill_gap(segment, next, end);
      state.segments.push_back(std::move(segment));
    }
    return state;
  }

 private:
  using Live = std::map<Address, BlockRecord>;
  using Segments = std::map<Address, SegmentRecord>;

  static void fill_gap(SegmentRecord& segment, Address begin, Address end) {
    if (begin < end) segment.blocks.push_back({begin, static_cast<Bytes>(end - begin), 0, BlockStatus::kInactive});
  }

  void contradiction(const TraceEntry& entry, std::string_view why) {
    diagnostics_.count(kHistoryContradictsState, fmt::format("{}: {} of {} bytes at {:#x}: {}", source_,
                                                             to_string(entry.action), entry.size, entry.address, why));
  }

  Segments::iterator segment_at(Address address) {
    auto segment = segments_.upper_bound(address);
    if (segment == segments_.begin()) return segments_.end();
    --segment;
    return address < end_of(segment->first, segment->second.size) ? segment : segments_.end();
  }

  /// Whether no live block lies in [begin, end).
  bool unused(Address begin, Address end) const {
    const auto after = live_.lower_bound(end);
    return after == live_.begin() || end_of(std::prev(after)->first, std::prev(after)->second.size) <= begin;
  }

  void undo_alloc(const TraceEntry& entry) {
    const auto block = live_.find(entry.address);
    if (block == live_.end() || block->second.status != BlockStatus::kAllocated) {
      contradiction(entry, "no block in use is there");
      return;
    }
    live_.erase(block);
  }

  void undo_free_requested(const TraceEntry& entry) {
    const auto block = live_.find(entry.address);
    if (block == live_.end() || block->second.status != BlockStatus::kPendingFree) {
      contradiction(entry, "no freed block is there");
      return;
    }
    block->second.status = BlockStatus::kAllocated;
  }

  void undo_free_completed(const TraceEntry& entry) {
    const auto segment = segment_at(entry.address);
    const Bytes size = entry.size > 0 ? round_size(entry.size, configuration_) : 0;
    const Address end = end_of(entry.address, size);
    if (size == 0 || segment == segments_.end() || end > end_of(segment->first, segment->second.size) ||
        !unused(entry.address, end)) {
      contradiction(entry, "no free memory is there");
      return;
    }
    const auto block =
        live_.insert({entry.address, {entry.address, size, entry.size, BlockStatus::kPendingFree}}).first;
    keep_slack(block, segment->second);
    if (block != live_.begin() && std::prev(block)->first >= segment->first) {
      keep_slack(std::prev(block), segment->second);
    }
  }

  /// Gives a block the gap behind it that cannot be a free block.
  void keep_slack(Live::iterator block, const SegmentRecord& segment) {
    const Address segment_end = end_of(segment.address, segment.size);
    const auto next = std::next(block);
    const Address limit = next == live_.end() ? segment_end : std::min(segment_end, next->first);
    const auto gap = static_cast<Bytes>(limit - end_of(block->first, block->second.size));
    const bool never_split = block->second.size >= configuration_.max_split_size;
    const bool splits_small = segment.small || segment.expandable;
    if (splits_small ? gap < kMinBlockSize : gap <= kSmallSize || never_split) block->second.size += gap;
  }

  void undo_segment_alloc(const TraceEntry& entry) {
    const auto segment = segments_.find(entry.address);
    if (segment == segments_.end() || segment->second.size != entry.size ||
        !unused(entry.address, end_of(entry.address, entry.size))) {
      contradiction(entry, "no unused segment of this size is there");
      return;
    }
    segments_.erase(segment);
  }

  void undo_segment_free(const TraceEntry& entry) {
    if (!can_add(entry)) return;
    segments_.emplace(entry.address, SegmentRecord{.address = entry.address,
                                                   .size = entry.size,
                                                   .stream = entry.stream,
                                                   .small = entry.size <= kSmallSegmentSize,
                                                   .pool = entry.pool});
  }

  bool can_add(const TraceEntry& entry) {
    const auto after = segments_.lower_bound(end_of(entry.address, entry.size));
    const bool free =
        after == segments_.begin() || end_of(std::prev(after)->first, std::prev(after)->second.size) <= entry.address;
    if (!free || entry.size <= 0) contradiction(entry, "another segment is there");
    return free && entry.size > 0;
  }

  /// Takes a part out of an expandable segment.
  void undo_map(const TraceEntry& entry) {
    const auto found = segment_at(entry.address);
    const Address end = end_of(entry.address, entry.size);
    if (found == segments_.end() || !found->second.expandable || end > end_of(found->first, found->second.size) ||
        !unused(entry.address, end)) {
      contradiction(entry, "no unused expandable segment is there");
      return;
    }
    const SegmentRecord whole = found->second;
    segments_.erase(found);
    add_part(whole, whole.address, entry.address);
    add_part(whole, end, end_of(whole.address, whole.size));
  }

  void add_part(const SegmentRecord& whole, Address begin, Address end) {
    if (begin >= end) return;
    SegmentRecord part = whole;
    part.address = begin;
    part.size = static_cast<Bytes>(end - begin);
    segments_.emplace(begin, std::move(part));
  }

  /// Puts a part back into an expandable segment, joined with what it touches.
  void undo_unmap(const TraceEntry& entry) {
    if (!can_add(entry)) return;
    SegmentRecord part{.address = entry.address, .size = entry.size, .stream = entry.stream, .pool = entry.pool};
    part.expandable = true;
    const auto joins = [&](Segments::iterator other) {
      return other->second.expandable && other->second.stream == entry.stream;
    };
    std::optional<bool> small;
    const auto take = [&](Segments::iterator other) {
      part.address = std::min(part.address, other->first);
      part.size += other->second.size;
      part.pool = other->second.pool;
      small = other->second.small;
      segments_.erase(other);
    };
    const auto right = segments_.find(end_of(entry.address, entry.size));
    if (right != segments_.end() && joins(right)) take(right);
    const auto after = segments_.lower_bound(entry.address);
    if (after != segments_.begin()) {
      const auto left = std::prev(after);
      const bool touches = end_of(left->first, left->second.size) == entry.address;
      if (touches && joins(left) && (!small || *small == left->second.small)) take(left);
    }
    if (!small) {
      small = entry.size % configuration_.large_segment_size != 0;
      diagnostics_.count(kPoolClassGuessed, source_);
    }
    part.small = *small;
    segments_.emplace(part.address, std::move(part));
  }

  const Configuration& configuration_;
  std::string_view source_;
  Diagnostics& diagnostics_;
  Segments segments_;
  Live live_;
};

}  // namespace

AllocatorState rewind(const AllocatorState& after, std::span<const TraceEntry> history,
                      const Configuration& configuration, std::string_view source, Diagnostics& diagnostics) {
  check_state(after, source);
  Rewinder rewinder(after, configuration, source, diagnostics);
  for (auto entry = history.rbegin(); entry != history.rend(); ++entry) rewinder.undo(*entry);
  return rewinder.state();
}

}  // namespace interlace::allocator
