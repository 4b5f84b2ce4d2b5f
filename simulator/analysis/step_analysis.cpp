#include "simulator/analysis/step_analysis.hpp"

namespace interlace::analysis {

StepAnalysis analyse_steps(const trace::Trace& trace, std::span<const StepWindow> windows) {
  const Annotations annotations(trace);
  return {overlap(trace, annotations, windows), host_blocking(trace, annotations, windows),
          stage_overlap(trace, annotations, windows)};
}

}  // namespace interlace::analysis
