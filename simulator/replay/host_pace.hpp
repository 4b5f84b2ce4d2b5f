#pragma once

#include <optional>

#include "simulator/base/diagnostics.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

/// What the program itself tells of its steps without the recorder (simulator/base/unrecorded_steps.hpp): nanoseconds
/// a step, of the slowest rank; none where no rank tells.
[[nodiscard]] std::optional<double> unrecorded_step_ns(const trace::Trace& trace);

/// What the scale is taken to be before the steps tell: between what PyTorch's profiler leaves (kUsualHostScale) and
/// what the collector does, whose campaigns come out best from 0.73 to 0.76.
inline constexpr double kLikelyScale = 0.72;

/// Sets the table's host_scale so that the replay of the recorded schedule becomes faster by as much as its steps were
/// when nothing was recorded: then they took unrecorded_ns. Where the host decides little of a step, that tells little
/// of the host: then kLikelyScale counts for more. The mean of what both leave open, not the likeliest, which jumps
/// where a race lets two scales fit alike. False, and nothing set, where steps as short as that are beyond any host:
/// the device alone needs longer.
[[nodiscard]] bool learn_host_pace(double unrecorded_ns, const stages::Cut& cut, const schedule::Schedule& recorded,
                                   SiteTable& table);

inline constexpr DiagnosticKind kImpossibleSteps{
    "replay.impossible_steps", Severity::kWarning,
    "the steps that the program timed without the recorder are shorter than what the device does in one; they are not "
    "used",
    "time more steps, or let the host wait for the device before and after: a host that runs ahead of it is timed, not "
    "the steps"};

}  // namespace interlace::replay
