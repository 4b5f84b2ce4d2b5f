#include "simulator/allocator/free_list.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace interlace::allocator {

namespace {

/// The first of `count` entries that does not stand before `entry`. Without branches on the data: the outcomes are not
/// predictable.
std::uint32_t first_not_before(const FreeList::Entry* entries, std::uint32_t count, const FreeList::Entry& entry) {
  std::uint32_t first = 0;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    first += entries[first + half - 1].before(entry) ? half : 0;
    count -= half;
  }
  return first + (count == 1 && entries[first].before(entry) ? 1 : 0);
}

}  // namespace

FreeList::Position FreeList::find(const Entry& entry) const {
  const auto found =
      std::partition_point(runs_.begin(), runs_.end(), [&entry](const RunKey& key) { return key.last.before(entry); });
  if (found == runs_.end()) return end();
  const Run& in = pool_[found->row];
  return {static_cast<std::uint32_t>(found - runs_.begin()), first_not_before(in.entries.data(), in.count, entry)};
}

FreeList::Position FreeList::next(Position position) const {
  ++position.slot;
  return position.slot < run(position.run).count ? position : Position{position.run + 1, 0};
}

std::optional<FreeList::Position> FreeList::previous(Position position) const {
  if (position.slot > 0) return Position{position.run, position.slot - 1};
  if (position.run == 0) return std::nullopt;
  return Position{position.run - 1, run(position.run - 1).count - 1};
}

std::uint32_t FreeList::new_row() {
  if (vacant_rows_.empty()) {
    pool_.emplace_back();
    return static_cast<std::uint32_t>(pool_.size() - 1);
  }
  const std::uint32_t row = vacant_rows_.back();
  vacant_rows_.pop_back();
  pool_[row].count = 0;
  return row;
}

void FreeList::insert(const Entry& entry) {
  ++size_;
  if (runs_.empty()) {
    const std::uint32_t row = new_row();
    runs_.push_back({entry, row});
  }
  Position at = find(entry);
  if (at == end()) at = {end().run - 1, run(end().run - 1).count};  // behind all others
  if (run(at.run).count == kRunLength) {
    cut(at.run);
    const std::uint32_t left = run(at.run).count;
    if (at.slot > left) at = {at.run + 1, at.slot - left};
  }
  Run& into = run(at.run);
  const auto slot = into.entries.begin() + at.slot;
  std::copy_backward(slot, into.entries.begin() + into.count, into.entries.begin() + into.count + 1);
  *slot = entry;
  ++into.count;
  runs_[at.run].last = into.entries[into.count - 1];
}

void FreeList::erase(Bytes size, Address address) {
  const Position at = find({size, address, {}});
  assert(at != end() && (*this)[at].size == size && (*this)[at].address == address);
  erase(at);
}

void FreeList::erase(Position position) {
  --size_;
  Run& from = run(position.run);
  const auto slot = from.entries.begin() + position.slot;
  std::copy(slot + 1, from.entries.begin() + from.count, slot);
  --from.count;
  if (from.count == 0) {
    vacant_rows_.push_back(runs_[position.run].row);
    runs_.erase(runs_.begin() + position.run);
    return;
  }
  runs_[position.run].last = from.entries[from.count - 1];
  if (position.run + 1 < runs_.size()) {
    join_with_next(position.run);
  } else if (position.run > 0) {
    join_with_next(position.run - 1);
  }
}

void FreeList::cut(std::uint32_t n) {
  const std::uint32_t row = new_row();  // may move all runs
  Run& left = run(n);
  Run& right = pool_[row];
  constexpr std::uint32_t kHalf = kRunLength / 2;
  std::copy(left.entries.begin() + kHalf, left.entries.end(), right.entries.begin());
  left.count = kHalf;
  right.count = kRunLength - kHalf;
  runs_.insert(runs_.begin() + n + 1, RunKey{runs_[n].last, row});
  runs_[n].last = left.entries[kHalf - 1];
}

void FreeList::join_with_next(std::uint32_t n) {
  Run& left = run(n);
  const Run& right = run(n + 1);
  if (left.count + right.count > kRunLength / 2) return;
  std::copy(right.entries.begin(), right.entries.begin() + right.count, left.entries.begin() + left.count);
  left.count += right.count;
  runs_[n].last = runs_[n + 1].last;
  vacant_rows_.push_back(runs_[n + 1].row);
  runs_.erase(runs_.begin() + n + 1);
}

}  // namespace interlace::allocator
