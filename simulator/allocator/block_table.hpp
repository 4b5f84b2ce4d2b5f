#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

using ArenaId = Id<struct ArenaTag>;

enum class BlockPhase : std::uint8_t {
  kFree,       ///< in its arena's free list
  kAllocated,  ///< in use
  kPending,    ///< freed, but other streams may still use it
  kVacant,     ///< no block: a row of the table that is to be used again
  kUnmapped,   ///< addresses of an expandable segment without memory; in its arena's list of these
};

/// A part of a segment. Neighbours in the same segment form a list by address. One cache line.
struct alignas(64) Block {
  Address address = 0;
  Bytes size = 0;
  Bytes requested = 0;
  std::int64_t age_base = 0;  ///< the pool's count of searches when the block became free
  std::optional<BlockId> previous;
  std::optional<BlockId> next;
  ArenaId arena;
  std::uint16_t open_events = 0;  ///< of a pending block: streams whose end is waited for
  BlockPhase phase = BlockPhase::kFree;
  bool expandable = false;  ///< its segment is

  [[nodiscard]] bool is_split() const { return previous || next; }
  [[nodiscard]] Address end() const { return address + static_cast<Address>(size); }
};
static_assert(sizeof(Block) == 64);

/// All blocks of an allocator. Rows of blocks that are gone are used again.
class BlockTable {
 public:
  Block& operator[](BlockId id) { return rows_[id.index()]; }
  const Block& operator[](BlockId id) const { return rows_[id.index()]; }

  BlockId add(const Block& block) {
    if (vacant_.empty()) {
      rows_.push_back(block);
      return BlockId{static_cast<std::uint32_t>(rows_.size() - 1)};
    }
    const BlockId id = vacant_.back();
    vacant_.pop_back();
    rows_[id.index()] = block;
    return id;
  }

  void remove(BlockId id) {
    assert(rows_[id.index()].phase != BlockPhase::kVacant);
    rows_[id.index()].phase = BlockPhase::kVacant;
    vacant_.push_back(id);
  }

  /// Calls visit(BlockId) for each block, in no order that means anything.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_[row].phase != BlockPhase::kVacant) visit(BlockId{row});
    }
  }

 private:
  std::vector<Block> rows_;
  std::vector<BlockId> vacant_;
};

}  // namespace interlace::allocator
