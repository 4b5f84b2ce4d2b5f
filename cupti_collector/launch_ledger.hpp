#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "simulator/trace/ilt/session_rows.hpp"

namespace interlace::collector {

/// Keeps account of what was launched and what of it arrived. Calls and device work come in any order and are joined by
/// correlation; a graph launch has many works.
///
/// The state of a correlation is a byte. Those of the newest 2^20 correlations lie in a ring, which a new one moves on;
/// of older ones only those still incomplete are kept, so memory does not grow with the recording.
class LaunchLedger {
 public:
  LaunchLedger();

  /// A call that launched something. must_work: whether device work has to follow; a copy of nothing has none.
  void call(std::int64_t correlation, bool must_work);
  /// Between these two calls a stream was captured into a graph: calls in between, of any thread, may have gone into
  /// it, so device work need not follow them. Both exclusive; before or after those calls are told of.
  void capture(std::int64_t begin, std::int64_t end);
  /// Device work of a call; timed: whether it came with times.
  void work(std::int64_t correlation, bool timed);
  /// Records that the driver had no buffer for.
  void dropped(std::int64_t records) { dropped_ += records; }

  /// Whether the call was told of; taken to be so where it is long ago.
  [[nodiscard]] bool knows_call(std::int64_t correlation) const;
  /// Calls whose work has to come still.
  [[nodiscard]] std::int64_t pending() const { return counts_[kPending]; }

  /// The account so far: what is missing is pending; where it is final, it is refused or undelivered.
  [[nodiscard]] trace::LedgerRow row(bool is_final) const;

 private:
  enum Flag : std::uint8_t { kCalled = 1, kMustWork = 2, kTimed = 4, kUntimed = 8 };
  enum Count : std::uint8_t { kNothing, kPending, kRecorded, kUntimedCalls, kUnlaunched, kCounts };

  [[nodiscard]] static Count count_of(std::uint8_t state);
  void add(std::int64_t correlation, std::uint8_t flags);
  void change(std::uint8_t& state, std::uint8_t flags);
  void move_on_to(std::int64_t correlation);
  [[nodiscard]] bool is_captured(std::int64_t correlation) const;
  void excuse(std::uint8_t& state);

  std::vector<std::uint8_t> ring_;
  std::int64_t ring_end_ = 0;  ///< the ring holds [ring_end_ - its size, ring_end_)
  std::unordered_map<std::int64_t, std::uint8_t> incomplete_;
  std::map<std::int64_t, std::int64_t> captures_;  ///< begin and end; they do not overlap
  std::int64_t counts_[kCounts] = {};
  std::int64_t dropped_ = 0;
  std::int64_t device_work_ = 0;
};

}  // namespace interlace::collector
