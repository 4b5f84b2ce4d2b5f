#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulator/base/units.hpp"
#include "simulator/replay/simulation.hpp"

namespace interlace::replay {

/// Two works that race for SMs: which of them comes first is a matter of microseconds and differs from step to step.
struct Race {
  std::string loser;        ///< the work whose time depends on it: name and stage
  std::string winner;       ///< the other one
  double lost_low_ns = 0;   ///< 10th percentile of what the loser loses to it a step
  double lost_high_ns = 0;  ///< 90th
  int places = 1;  ///< of the step where works of these names and stages race: what is lost is that of the worst

  /// One sentence.
  [[nodiscard]] std::string text() const;
};

/// Finds races in runs of one plan: collectives that in some steps start at once and in others wait for a kernel's
/// blocks, and kernels of few rounds of blocks that in some steps find SMs held by a collective. Only where the
/// difference between 10th and 90th percentile is at least one percent of the step; the largest first, each pair of
/// works once.
[[nodiscard]] std::vector<Race> find_races(std::span<const SimulationResult> runs, const SiteTable& table,
                                           std::int32_t warm_up, double step_ns);

}  // namespace interlace::replay
