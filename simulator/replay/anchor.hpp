#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/interval.hpp"

namespace interlace::replay {

/// Corrects predictions by what the replay of the recorded schedule is off from a run of it without the recorder.
///
/// Part of that error is the recording's (a GPU that was slower while it recorded, kernels that were too fast), part is
/// the schedule's (races that end otherwise). The others share the first part only, kSharedError of the logarithm;
/// those that replay nearly as the recorded one does, more of it, up to all.
class Anchor {
 public:
  /// measured_ns: what a step of the recorded schedule took; replayed: what its replay says.
  Anchor(double measured_ns, Nanoseconds replayed) : error_(static_cast<double>(replayed) / measured_ns - 1.0) {}

  /// Replayed over measured step, less one.
  [[nodiscard]] double error() const { return error_; }

  /// More than any sound recording is off.
  [[nodiscard]] bool is_far() const;
  /// Counts replay.far_from_measured where it is.
  void judge(Diagnostics& diagnostics) const;
  /// A step time as replayed. likeness: in [0, 1], how nearly the schedule replays as the recorded one; 1 for that one,
  /// edited or not.
  [[nodiscard]] Nanoseconds corrected(Nanoseconds replayed, double likeness) const;

 private:
  double error_;
};

inline constexpr DiagnosticKind kFarFromMeasured{
    "replay.far_from_measured", Severity::kWarning,
    "the replay of the recorded schedule is far from the step that it is said to take without the recorder: what is "
    "predicted is corrected by more than it is worth",
    "see that the step is of this job on as many GPUs: --measured-step-ms, in milliseconds, or what the recording "
    "tells of itself"};

}  // namespace interlace::replay
