#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/analysis/host_blocking.hpp"
#include "simulator/analysis/overlap.hpp"
#include "simulator/analysis/stage_overlap.hpp"
#include "simulator/analysis/step_window.hpp"
#include "simulator/analysis/steps.hpp"

namespace interlace::analysis {

/// What is said about the training steps of a schedule, and compared with those of another.
struct StepAnalysis {
  OverlapOfRanks overlap;
  std::vector<HostBlock> host_blocks;
  StageOverlap stages;
};

/// The steps of a recording in figures, as every command tells them.
struct RecordedSteps {
  StepWindows windows;
  std::int64_t found = 0;  ///< whole steps of the first rank, of which `windows` may leave some out
  OverlapSummary overlap;  ///< a step, mean over ranks
  /// What the hosts wait for, a step, mean over ranks; none where the recording ends before they do so at their usual
  /// pace (StepWindows::host_ahead).
  std::optional<Nanoseconds> host_blocked_ns;
};

/// Over the steps of find_steps; none where a rank has no whole one: of that nothing can be said a step.
[[nodiscard]] std::optional<RecordedSteps> recorded_steps(const trace::Trace& trace, const Annotations& annotations);

}  // namespace interlace::analysis
