#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/analysis/step_analysis.hpp"

namespace interlace::analysis {

/// Something that differs between two runs of a job, in words.
struct Reason {
  std::string text;           ///< e.g. "exposes 2.1 ms more communication"
  Nanoseconds effect_ns = 0;  ///< a step; > 0: works towards a longer step, < 0: towards a shorter one

  bool operator==(const Reason&) const = default;
};

struct CompareOptions {
  double threshold = 0.003;  ///< differences below this part of the first run's step are not told
  std::size_t at_most = 7;   ///< reasons; the smallest of the second kind are left out first
};

/// What `now` does otherwise than `before`, in two kinds. First, largest first, where the time of the step goes:
/// compute, exposed communication, exposed copies, idle time. These add up to the difference of the steps (but for what
/// is below the threshold). Then, largest first, what lies behind it: collectives that take longer, stages that run at
/// the same time, what the host waits for. These may be hidden under one another and do not add up to anything.
[[nodiscard]] std::vector<Reason> compare(const StepAnalysis& before, const StepAnalysis& now,
                                          const CompareOptions& options = {});

/// Milliseconds without their sign: "250 ms", "34.1 ms", "2.1 ms", "0.35 ms".
[[nodiscard]] std::string in_ms(Nanoseconds time);

}  // namespace interlace::analysis
