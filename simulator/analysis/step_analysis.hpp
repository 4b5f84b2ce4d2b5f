#pragma once

#include <span>
#include <vector>

#include "simulator/analysis/host_blocking.hpp"
#include "simulator/analysis/overlap.hpp"
#include "simulator/analysis/stage_overlap.hpp"
#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

/// All that is said about the training steps of one trace, measured or predicted.
struct StepAnalysis {
  OverlapOfRanks overlap;
  std::vector<HostBlock> host_blocks;
  StageOverlap stages;
};

[[nodiscard]] StepAnalysis analyse_steps(const trace::Trace& trace, std::span<const StepWindow> windows);

}  // namespace interlace::analysis
