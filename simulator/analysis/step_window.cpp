#include "simulator/analysis/step_window.hpp"

namespace interlace::analysis {

std::vector<StepWindow> whole_trace(const trace::Trace& trace) {
  return {trace.ranks().size(), StepWindow{.span = {0, trace.length()}, .steps = 1}};
}

}  // namespace interlace::analysis
