#include "simulator/analysis/step_analysis.hpp"

#include <algorithm>
#include <utility>

namespace interlace::analysis {

std::optional<RecordedSteps> recorded_steps(const trace::Trace& trace, const Annotations& annotations) {
  const auto steps = find_steps(trace, annotations);
  if (steps.empty() || !std::ranges::all_of(steps, has_whole_step)) return std::nullopt;
  StepWindows windows = windows_of(trace, steps);
  const OverlapSummary mean = overlap(trace, annotations, windows.device).mean;
  std::optional<Nanoseconds> blocked;
  if (!windows.host_ahead) blocked = total_blocked(host_blocking(trace, annotations, windows.host));
  const auto found = static_cast<std::int64_t>(steps.front()->count()) - 1;
  return RecordedSteps{.windows = std::move(windows), .found = found, .overlap = mean, .host_blocked_ns = blocked};
}

}  // namespace interlace::analysis
