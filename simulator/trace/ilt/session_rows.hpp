#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/base/diagnostics.hpp"
#include "simulator/trace/operation.hpp"

/// What a recorder writes beside operations: rows of the tables `syncs`, `clocks` and `ledger` of docs/ilt_format.md.
namespace interlace::trace {

/// What is known of a host call that records an event, waits or synchronises, where it came apart from the call. The
/// reader joins it with the host call of the rank that has this correlation, and a wait with the record of the rank
/// that has the same number: both may come in any order.
struct SyncFact {
  RankId rank;
  std::int64_t correlation = 0;
  SyncKind kind = SyncKind::kUnknown;
  std::optional<LaneId> stream;        ///< as in SyncDetail
  std::optional<std::int64_t> event;   ///< as in SyncDetail
  std::optional<std::int64_t> record;  ///< number of the event record that this makes or waits for

  bool operator==(const SyncFact&) const = default;
};

/// What the clocks of a host showed at one moment, in nanoseconds.
struct ClockSnapshot {
  RankId rank;
  Nanoseconds time = 0;  ///< on the recording's clock
  Nanoseconds realtime = 0;
  Nanoseconds monotonic = 0;
  Nanoseconds monotonic_raw = 0;
  Nanoseconds width = 0;  ///< how long reading them all took: no two differ by more from the same moment

  bool operator==(const ClockSnapshot&) const = default;
};

enum class LedgerState : std::uint8_t {
  kOpen,    ///< recording went on: later rows were to follow
  kClosed,  ///< recording ended and all was delivered that could be
};
[[nodiscard]] std::string_view to_string(LedgerState state);

/// What became of the device work that a rank launched, from its beginning to `time`. Calls that launched something:
/// launched = recorded + untimed + refused + undelivered + pending.
struct LedgerRow {
  RankId rank;
  Nanoseconds time = 0;  ///< on the recording's clock
  LedgerState state = LedgerState::kOpen;
  std::int64_t launched = 0;     ///< host calls that launched device work
  std::int64_t recorded = 0;     ///< those whose work is in the file
  std::int64_t untimed = 0;      ///< those whose work came without times and is left out
  std::int64_t refused = 0;      ///< those whose work is missing for want of buffers
  std::int64_t undelivered = 0;  ///< those whose work is missing and nothing says why
  std::int64_t pending = 0;      ///< those whose work was still to come
  std::int64_t unlaunched = 0;   ///< operations in the file whose call is not
  std::int64_t device_work = 0;  ///< operations of the device in the file
  std::int64_t dropped = 0;      ///< records of any kind that the driver says it had no buffer for

  /// Whether everything launched is accounted for and in the file.
  [[nodiscard]] bool is_closed() const {
    return state == LedgerState::kClosed && untimed + refused + undelivered + pending + dropped == 0;
  }
  bool operator==(const LedgerRow&) const = default;
};

inline constexpr DiagnosticKind kRefusedWork{"record.refused_work", Severity::kDataLoss,
                                             "records that were lost because no buffer was free for them",
                                             "record again with more memory for buffers (--buffers)"};
inline constexpr DiagnosticKind kUntimedWork{
    "record.untimed_work", Severity::kDataLoss, "launches whose device work came without times; it is left out",
    "work still running when the program ended has no end; else the driver lost the times: record a shorter span"};
inline constexpr DiagnosticKind kUndeliveredWork{"record.undelivered_work", Severity::kDataLoss,
                                                 "launches whose device work was never delivered",
                                                 "do not trust gaps on the device; record again"};
inline constexpr DiagnosticKind kPendingWork{
    "record.pending_work", Severity::kDataLoss,
    "launches whose device work was still to come when the recording broke off",
    "they are the last before the end; let the recorded program end in order to have them"};
inline constexpr DiagnosticKind kSyncWithoutCall{"record.sync_without_call", Severity::kWarning,
                                                 "facts of event records and waits whose host call is not in the file",
                                                 "these waits order nothing here"};
inline constexpr DiagnosticKind kWaitWithoutRecord{"record.wait_without_record", Severity::kInfo,
                                                   "waits for an event whose record is not in the file",
                                                   "none needed where recording began after that event was recorded"};

/// Counts what the last ledger row of a rank says is missing.
void count_losses(const LedgerRow& last, std::string_view place, Diagnostics& diagnostics);

}  // namespace interlace::trace
