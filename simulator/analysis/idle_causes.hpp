#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// Why nothing runs on a device.
enum class IdleCause : std::uint8_t {
  kHostBlocked,    ///< the thread that launches the next work is itself blocked in a synchronisation
  kHostBusy,       ///< that thread has not come to the launch yet
  kLaunchLatency,  ///< the launch has begun; the work has not started
  kHeldBack,       ///< the work was launched before the gap began: it waits for an event, or for the device
  kUnknown,        ///< no work follows in the window, or its launch is not in the trace
};

[[nodiscard]] std::string_view to_string(IdleCause cause);

struct IdleTime {
  IdleCause cause = IdleCause::kUnknown;
  std::string stage;        ///< place_of() the launch (or the blocking call); may be ""
  Nanoseconds idle_ns = 0;  ///< a step, mean over ranks

  bool operator==(const IdleTime&) const = default;
};

/// A stretch of time in which a rank's device does nothing, for one cause.
struct IdlePiece {
  Interval span;
  IdleCause cause = IdleCause::kUnknown;
  std::string_view stage;                  ///< as of IdleTime; a view into the trace
  std::optional<trace::OperationId> next;  ///< the device work that ended the gap

  bool operator==(const IdlePiece&) const = default;
};

/// The time in which a rank's device does nothing, by rank and time, not empty pieces only. Each gap is charged to the
/// device work that ends it: [gap begin, launch begin) to the host thread, blocked or busy; [launch begin, gap end) to
/// launch latency; the whole gap to kHeldBack where the launch had ended when the gap began.
[[nodiscard]] std::vector<std::vector<IdlePiece>> idle_pieces(const trace::Trace& trace, const Annotations& annotations,
                                                              std::span<const StepWindow> windows);

/// The sums of idle_pieces by cause and stage, largest first.
[[nodiscard]] std::vector<IdleTime> idle_causes(const trace::Trace& trace, const Annotations& annotations,
                                                std::span<const StepWindow> windows);

}  // namespace interlace::analysis
