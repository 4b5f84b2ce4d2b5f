#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/device_class.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// What the device does during a training step, in nanoseconds a step. Spans that overlap count once (unions of
/// intervals): compute + exposed communication + exposed copies + idle is the step, to within their rounding.
struct OverlapSummary {
  Nanoseconds step_ns = 0;                   ///< length of a step
  Nanoseconds compute_ns = 0;                ///< some kernel, memset or copy within the device runs
  Nanoseconds communication_ns = 0;          ///< some collective runs, waiting for peers included
  Nanoseconds copy_ns = 0;                   ///< some copy between host and device runs
  Nanoseconds communication_hidden_ns = 0;   ///< communication while compute runs
  Nanoseconds exposed_communication_ns = 0;  ///< communication while no compute runs
  Nanoseconds copy_hidden_ns = 0;            ///< copies while compute runs
  Nanoseconds exposed_copy_ns = 0;           ///< copies while neither compute nor communication runs
  Nanoseconds idle_ns = 0;                   ///< nothing runs
  /// Device time of embedding lookups, and how much of it lies under dense forward, backward or optimizer; none where
  /// the trace has no annotations that tell lookups.
  std::optional<Nanoseconds> lookup_ns;
  std::optional<Nanoseconds> lookup_hidden_ns;

  /// communication_hidden_ns / communication_ns, in [0, 1]; none without communication.
  [[nodiscard]] std::optional<double> communication_hidden_ratio() const;
  /// copy_hidden_ns / copy_ns; none without copies.
  [[nodiscard]] std::optional<double> copy_hidden_ratio() const;
  /// Part of the step in which the device does anything; none for an empty step.
  [[nodiscard]] std::optional<double> busy_ratio() const;

  bool operator==(const OverlapSummary&) const = default;
};

struct OverlapOfRanks {
  std::vector<OverlapSummary> ranks;  ///< in the order of Trace::ranks()
  OverlapSummary mean;                ///< of the ranks; all zero for a trace without ranks
};

/// Gathers the device work of one rank and sums up what overlaps what. In any order, any number of works.
class OverlapCount {
 public:
  /// What lies outside the window does not count.
  explicit OverlapCount(const StepWindow& window) : window_(window) {}

  /// `stage`: the label of the stage that launched it (is_stage); none where it is not known.
  void add(Interval work, DeviceClass kind, std::optional<std::string_view> stage);
  [[nodiscard]] OverlapSummary summary() &&;

 private:
  StepWindow window_;
  std::array<std::vector<Interval>, kDeviceClasses> of_class_;
  std::vector<Interval> lookup_;
  std::vector<Interval> dense_;
};

/// What overlaps what in the windows. `annotations` are those of `trace`.
[[nodiscard]] OverlapOfRanks overlap(const trace::Trace& trace, const Annotations& annotations,
                                     std::span<const StepWindow> windows);

/// The mean of some summaries, each field for itself; a lookup field is averaged over those that have it.
[[nodiscard]] OverlapSummary mean_of(std::span<const OverlapSummary> summaries);

}  // namespace interlace::analysis
