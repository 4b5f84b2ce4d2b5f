#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// The training steps of one rank as its annotations tell them.
struct FoundSteps {
  std::string marker;  ///< label of the annotation that comes once a step
  std::vector<Nanoseconds>
      begins;  ///< one a step: start of the first device work launched in the marker, else of the marker

  [[nodiscard]] std::size_t count() const { return begins.size(); }
  /// From the first begin to the last: count() - 1 whole steps. None with fewer than two.
  [[nodiscard]] std::optional<StepWindow> window() const;
};

/// Finds what comes once a step on the main thread of each rank: "ProfilerStep#n" where there is one, else the
/// outermost annotation that launches the most device time among those that come as often as most of them do. None
/// for a rank without annotations that repeat. A view for people: prediction cuts by annotation profiles instead.
[[nodiscard]] std::vector<std::optional<FoundSteps>> find_steps(const trace::Trace& trace,
                                                                const Annotations& annotations);

/// The windows of found steps; the whole trace as one step for ranks without.
[[nodiscard]] std::vector<StepWindow> windows_of(const trace::Trace& trace,
                                                 const std::vector<std::optional<FoundSteps>>& steps);

}  // namespace interlace::analysis
