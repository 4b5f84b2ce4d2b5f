#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/allocator/types.hpp"

namespace interlace::allocator {

/// The free blocks of one arena in order of size, then address: the first that is not too small is the best fit.
///
/// Entries lie sorted in short runs, and the runs stand in order: a lookup is two short binary searches, and an insert
/// moves a part of one run. Real free lists have some hundred entries, a run or a few, but thousands are no slower per
/// entry. A full run is cut into halves; one that would fit into half a run together with its neighbour joins it.
class FreeList {
 public:
  struct Entry {
    Bytes size = 0;
    Address address = 0;
    BlockId block;

    [[nodiscard]] bool before(const Entry& other) const {
      return size != other.size ? size < other.size : address < other.address;
    }
  };

  /// A place in the list, good until it changes.
  struct Position {
    std::uint32_t run = 0;
    std::uint32_t slot = 0;

    bool operator==(const Position&) const = default;
  };

  void insert(const Entry& entry);
  /// REQUIRES: an entry of this size and address is there.
  void erase(Bytes size, Address address);
  void erase(Position position);

  /// The first entry of at least this size; end() if there is none.
  [[nodiscard]] Position lower_bound(Bytes size) const { return find({size, 0, {}}); }
  [[nodiscard]] Position begin() const { return {}; }
  [[nodiscard]] Position end() const { return {static_cast<std::uint32_t>(runs_.size()), 0}; }
  [[nodiscard]] Position next(Position position) const;
  /// None: `position` is the first.
  [[nodiscard]] std::optional<Position> previous(Position position) const;
  /// REQUIRES: position != end().
  [[nodiscard]] const Entry& operator[](Position position) const { return run(position.run).entries[position.slot]; }

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The size of the largest entry; 0 where there is none.
  [[nodiscard]] Bytes largest() const { return runs_.empty() ? 0 : runs_.back().last.size; }

 private:
  static constexpr std::uint32_t kRunLength = 64;

  struct Run {
    std::uint32_t count = 0;
    std::array<Entry, kRunLength> entries;
  };
  struct RunKey {
    Entry last;             ///< the run's last entry
    std::uint32_t row = 0;  ///< in pool_
  };

  [[nodiscard]] const Run& run(std::uint32_t n) const { return pool_[runs_[n].row]; }
  [[nodiscard]] Run& run(std::uint32_t n) { return pool_[runs_[n].row]; }
  [[nodiscard]] Position find(const Entry& entry) const;
  void cut(std::uint32_t n);
  void join_with_next(std::uint32_t n);
  std::uint32_t new_row();

  std::vector<RunKey> runs_;  ///< in order; none is empty
  std::vector<Run> pool_;
  std::vector<std::uint32_t> vacant_rows_;
  std::size_t size_ = 0;
};

}  // namespace interlace::allocator
