#pragma once

#include <vector>

#include "simulator/base/interval.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::gui {

/// The training steps of each rank on the device, one behind the other: from the end of the last work of one
/// iteration's optimizer to that of the next, as those of predictions, beside which they are drawn (the step time that
/// is told is of analysis::find_steps). Where these cannot be told, the steps that annotations show; empty for a rank
/// without. cut: may be null.
[[nodiscard]] std::vector<std::vector<Interval>> steps_of_recording(const trace::Trace& trace, const stages::Cut* cut);

}  // namespace interlace::gui
