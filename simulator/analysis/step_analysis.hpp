#pragma once

#include <vector>

#include "simulator/analysis/host_blocking.hpp"
#include "simulator/analysis/overlap.hpp"
#include "simulator/analysis/stage_overlap.hpp"

namespace interlace::analysis {

/// What is said about the training steps of a schedule, and compared with those of another.
struct StepAnalysis {
  OverlapOfRanks overlap;
  std::vector<HostBlock> host_blocks;
  StageOverlap stages;
};

}  // namespace interlace::analysis
