#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// Why an annotation is taken to come once a step.
enum class StepEvidence {
  kName,        ///< its name says so: of PyTorch's profiler, of the engine, or as the caller said
  kOptimizer,   ///< it comes as often as the optimizer's
  kUsualCount,  ///< it comes as often as most do that repeat
};

/// "name", "optimizer", "usual_count".
[[nodiscard]] std::string_view to_string(StepEvidence evidence);

/// The training steps of one rank as its annotations tell them.
struct FoundSteps {
  std::string marker;  ///< label of the annotation that comes once a step
  StepEvidence evidence = StepEvidence::kName;
  std::string ended_by;                 ///< label of the annotation whose device work ends a step: mostly the marker
  std::vector<Nanoseconds> host;        ///< one a step: start of the marker
  std::vector<Nanoseconds> device;      ///< one a step: start of the first device work launched in it; may be empty
  std::vector<Nanoseconds> device_end;  ///< one a step: end of the last launched in `ended_by`; empty where `device` is

  [[nodiscard]] std::size_t count() const { return host.size(); }
  /// From the first marker to the last, count() - 1 whole steps, or none with fewer than two: on the host; and on the
  /// device, where that is known, from the end of one step's work to that of the next. (From start to start would be
  /// too short where the host runs further ahead step by step.)
  [[nodiscard]] std::vector<Interval> on_host() const;
  [[nodiscard]] std::vector<Interval> on_device() const;
  /// On the device where that is known, else on the host.
  [[nodiscard]] std::vector<Interval> spans() const;
};

/// Whether anything can be said a step: from one mark to the next.
[[nodiscard]] inline bool has_whole_step(const std::optional<FoundSteps>& steps) { return steps && steps->count() > 1; }

/// Finds what comes once a step on the main thread of each rank: "ProfilerStep#n" where there is one, even where there
/// is one only; else the outermost annotation that launches the most kernel time among those that come as often as the
/// optimizer's ("optimizer", or PyTorch's own "Optimizer.step#Adam.step"), or without such as most of them do. Without
/// an optimizer none for a rank where no outermost annotation repeats.
///
/// What is said of recorded steps is said over these, whatever annotations a rank has. The annotation with the most
/// kernel time bounds a step on the device, also within a step known by name where it launches the better part of its
/// kernels: not the optimizer, whose few kernels the next batch's lookups hold up in every step but the last recorded
/// one, behind which nothing comes. In a recording of three steps of 370 ms that made one of two 20 ms too short.
[[nodiscard]] std::vector<std::optional<FoundSteps>> find_steps(const trace::Trace& trace,
                                                                const Annotations& annotations);

/// The steps that an annotation with this label marks, on the main thread of each rank; none for a rank without.
[[nodiscard]] std::vector<std::optional<FoundSteps>> steps_marked_by(const trace::Trace& trace,
                                                                     const Annotations& annotations,
                                                                     std::string_view label);

/// The steps that an annotation with this label ends, to lay a recording beside a prediction, whose steps last from the
/// end of one optimizer on the device to the end of the next: for pictures, figures are of find_steps. That too where
/// these cannot be told on every rank, or no label is given.
[[nodiscard]] std::vector<std::optional<FoundSteps>> steps_ended_by(const trace::Trace& trace,
                                                                    const Annotations& annotations,
                                                                    std::optional<std::string_view> optimizer);

/// The steady windows of found steps a rank (steady_windows_of); the whole trace as one step for ranks without.
///
/// A recording begins behind a synchronisation, as profilers make one: the hosts run ahead, with little to wait for,
/// until a queue or a result stops them, and from then on take as long as the device. The window of the hosts leaves
/// out the first steps, as many on each rank, in which a host is faster than its device. Where that is so to the end,
/// it holds all steps, and what the hosts waited for in them is less than they wait for in the long run.
struct StepWindows {
  std::vector<StepWindow> host;    ///< for what the host does
  bool host_ahead = false;         ///< to the end of the recording a host got further ahead of its device
  std::vector<StepWindow> device;  ///< for what the device does; the host's where device work tells nothing
};
[[nodiscard]] StepWindows windows_of(const trace::Trace& trace, const std::vector<std::optional<FoundSteps>>& steps);

}  // namespace interlace::analysis
