#include "simulator/ingest/memory_snapshot/block_bytes.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_map>

namespace interlace::ingest::memory_snapshot {

namespace {

using trace::AllocationAction;

bool is_about_block(AllocationAction action) {
  return action == AllocationAction::kAlloc || action == AllocationAction::kFree ||
         action == AllocationAction::kFreeRequested || action == AllocationAction::kFreeCompleted;
}

/// Walks along the history in one direction, from event to event, and carries the size of each block from where it is
/// known on to where the block's life ends in that direction.
class Carrier {
 public:
  explicit Carrier(std::span<const Event> events) : events_(events) {}

  void know(std::uint64_t address, Bytes bytes) { bytes_[address] = bytes; }

  void visit(std::size_t i, AllocationAction end_of_life, std::optional<Bytes>& bytes) {
    if (!is_about_block(events_[i].action)) return;
    const auto known = bytes_.find(events_[i].address);
    if (!bytes && known != bytes_.end()) bytes = known->second;
    if (events_[i].action == end_of_life) {
      bytes_.erase(events_[i].address);
    } else if (bytes) {
      bytes_[events_[i].address] = *bytes;
    }
  }

 private:
  std::span<const Event> events_;
  std::unordered_map<std::uint64_t, Bytes> bytes_;
};

}  // namespace

std::vector<std::optional<Bytes>> block_bytes(std::span<const Event> events, std::span<const std::optional<Bytes>> seen,
                                              std::span<const trace::AllocatorSegment> segments) {
  assert(events.size() == seen.size());
  std::vector<std::optional<Bytes>> bytes(seen.begin(), seen.end());
  Carrier forward(events);
  for (std::size_t i = 0; i < events.size(); ++i) forward.visit(i, AllocationAction::kFreeCompleted, bytes[i]);
  Carrier backward(events);
  for (const trace::AllocatorSegment& segment : segments) {
    for (const trace::AllocatorBlock& block : segment.blocks) {
      if (block.state != trace::BlockState::kFree) backward.know(block.address, block.bytes);
    }
  }
  for (std::size_t i = events.size(); i-- > 0;) backward.visit(i, AllocationAction::kAlloc, bytes[i]);
  return bytes;
}

Bytes least_block_bytes(Bytes requested) {
  static constexpr Bytes kStep = 512;
  return std::max(kStep, (requested + kStep - 1) / kStep * kStep);
}

}  // namespace interlace::ingest::memory_snapshot
