#pragma once

#include <functional>

#include "simulator/trace/ilt/session_rows.hpp"

namespace interlace::collector {

/// Now on CUPTI's default clock, CLOCK_REALTIME, in nanoseconds: the clock of every time in a recording. (A clock of
/// our own would cost a call for each record, and registering it anew spoils records.)
[[nodiscard]] Nanoseconds recording_time();

/// Now on a clock that nobody sets, for how long something takes.
[[nodiscard]] Nanoseconds steady_time();

/// Reads all clocks as close together as some tries allow. cupti_time: the time on CUPTI's clock; none where it is not
/// to be had.
[[nodiscard]] trace::ClockSnapshot read_clocks(const std::function<std::optional<Nanoseconds>()>& cupti_time);

/// Sees whether the recording's clock was set while recording, from successive snapshots.
class ClockWatch {
 public:
  /// By how much the clock moved against the steady one since the last snapshot, beyond what drift and the widths of
  /// the snapshots allow; 0 where it did not.
  [[nodiscard]] Nanoseconds step(const trace::ClockSnapshot& now);

 private:
  std::optional<trace::ClockSnapshot> last_;
};

}  // namespace interlace::collector
