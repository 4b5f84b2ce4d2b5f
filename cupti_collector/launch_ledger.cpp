#include "cupti_collector/launch_ledger.hpp"

#include <algorithm>
#include <iterator>

namespace interlace::collector {

namespace {

constexpr std::int64_t kRingSize = std::int64_t{1} << 20;
/// Of old works without a call (those of a program that was running when recording began) no more are kept than this.
constexpr std::size_t kMostIncomplete = std::size_t{1} << 20;
/// Calls are told of soon after they happen, so old captures are not asked for any more.
constexpr std::size_t kMostCaptures = 4096;

std::size_t place(std::int64_t correlation) { return static_cast<std::size_t>(correlation & (kRingSize - 1)); }

}  // namespace

LaunchLedger::LaunchLedger() : ring_(kRingSize, 0) {}

LaunchLedger::Count LaunchLedger::count_of(std::uint8_t state) {
  const bool has_work = (state & (kTimed | kUntimed)) != 0;
  if ((state & kCalled) == 0) return has_work ? kUnlaunched : kNothing;
  if (!has_work) return (state & kMustWork) != 0 ? kPending : kNothing;
  return (state & kUntimed) != 0 ? kUntimedCalls : kRecorded;
}

void LaunchLedger::change(std::uint8_t& state, std::uint8_t flags) {
  --counts_[count_of(state)];
  state = static_cast<std::uint8_t>(state | flags);
  ++counts_[count_of(state)];
}

void LaunchLedger::move_on_to(std::int64_t correlation) {
  const std::int64_t end = correlation + 1;
  const std::int64_t leaving = std::min(end - ring_end_, kRingSize);
  for (std::int64_t i = 0; i < leaving; ++i) {
    const std::int64_t old = ring_end_ - kRingSize + i;
    std::uint8_t& state = ring_[place(old)];
    const Count count = count_of(state);
    const bool is_incomplete = count == kPending || count == kUnlaunched;
    if (is_incomplete && incomplete_.size() < kMostIncomplete) incomplete_.emplace(old, state);
    state = 0;
  }
  ring_end_ = end;
}

void LaunchLedger::add(std::int64_t correlation, std::uint8_t flags) {
  if (correlation >= ring_end_) move_on_to(correlation);
  if (correlation >= ring_end_ - kRingSize) {
    change(ring_[place(correlation)], flags);
    return;
  }
  const auto known = incomplete_.find(correlation);
  if (known == incomplete_.end()) {
    // Work: further one of a call that is complete. A call: one that was very long in returning.
    if ((flags & kMustWork) == 0) return;
    ++counts_[kPending];
    if (incomplete_.size() < kMostIncomplete) incomplete_.emplace(correlation, flags);
    return;
  }
  change(known->second, flags);
  const Count count = count_of(known->second);
  if (count != kPending && count != kUnlaunched) incomplete_.erase(known);
}

bool LaunchLedger::is_captured(std::int64_t correlation) const {
  const auto after = captures_.lower_bound(correlation);
  return after != captures_.begin() && std::prev(after)->second > correlation;
}

void LaunchLedger::excuse(std::uint8_t& state) {
  --counts_[count_of(state)];
  state = static_cast<std::uint8_t>(state & ~kMustWork);
  ++counts_[count_of(state)];
}

void LaunchLedger::capture(std::int64_t begin, std::int64_t end) {
  // Captures of several streams overlap: they are kept as one.
  auto known = captures_.upper_bound(begin);
  if (known != captures_.begin() && std::prev(known)->second >= begin) --known;
  while (known != captures_.end() && known->first <= end) {
    begin = std::min(begin, known->first);
    end = std::max(end, known->second);
    known = captures_.erase(known);
  }
  captures_.emplace(begin, end);
  if (captures_.size() > kMostCaptures) captures_.erase(captures_.begin());
  const std::int64_t oldest = ring_end_ - kRingSize;
  for (std::int64_t i = std::max(begin + 1, oldest); i < std::min(end, ring_end_); ++i) excuse(ring_[place(i)]);
  if (begin >= oldest) return;
  for (auto entry = incomplete_.begin(); entry != incomplete_.end();) {
    const bool is_inside = entry->first > begin && entry->first < end;
    if (is_inside) excuse(entry->second);
    entry = is_inside && count_of(entry->second) == kNothing ? incomplete_.erase(entry) : std::next(entry);
  }
}

void LaunchLedger::call(std::int64_t correlation, bool must_work) {
  must_work = must_work && !is_captured(correlation);
  add(correlation, static_cast<std::uint8_t>(must_work ? kCalled | kMustWork : kCalled));
}

bool LaunchLedger::knows_call(std::int64_t correlation) const {
  if (correlation >= ring_end_) return false;
  return correlation < ring_end_ - kRingSize || (ring_[place(correlation)] & kCalled) != 0;
}

void LaunchLedger::work(std::int64_t correlation, bool timed) {
  if (timed) ++device_work_;
  add(correlation, timed ? kTimed : kUntimed);
}

trace::LedgerRow LaunchLedger::row(bool is_final) const {
  trace::LedgerRow row;
  row.state = is_final ? trace::LedgerState::kClosed : trace::LedgerState::kOpen;
  row.launched = counts_[kPending] + counts_[kRecorded] + counts_[kUntimedCalls];
  row.recorded = counts_[kRecorded];
  row.untimed = counts_[kUntimedCalls];
  row.unlaunched = counts_[kUnlaunched];
  row.device_work = device_work_;
  row.dropped = dropped_;
  if (is_final) {
    row.refused = std::min(counts_[kPending], dropped_);
    row.undelivered = counts_[kPending] - row.refused;
  } else {
    row.pending = counts_[kPending];
  }
  return row;
}

}  // namespace interlace::collector
