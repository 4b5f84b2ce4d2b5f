#pragma once

#include <cstdint>
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
  std::string stage;        ///< label of the innermost annotation around the launch (or the blocking call); may be ""
  Nanoseconds idle_ns = 0;  ///< a step, mean over ranks

  bool operator==(const IdleTime&) const = default;
};

/// Splits the time in which a rank's device does nothing by cause, largest first. Each gap is charged to the device
/// work that ends it: [gap begin, launch begin) to the host thread, blocked or busy; [launch begin, gap end) to launch
/// latency; the whole gap to kHeldBack where the launch had ended when the gap began.
[[nodiscard]] std::vector<IdleTime> idle_causes(const trace::Trace& trace, const Annotations& annotations,
                                                std::span<const StepWindow> windows);

}  // namespace interlace::analysis
