#pragma once

#include <optional>
#include <span>

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"
#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::replay {

inline constexpr ErrorCode kNoDeviceWork{"replay.no_device_work"};

/// Which of the candidates was recorded (recognise.hpp), and what only its replay can tell, which the table takes: the
/// host's pace without the recorder (host_pace.hpp) and what delays each work (usual_delays.hpp).
/// unrecorded_ns: what a step took without the recorder, where the user knows it; else what the recording says of it.
/// Counts replay.far_from_recorded, replay.impossible_steps. Null, and the table as it was, where none of the
/// candidates was recorded. Throws replay.no_device_work where there is nothing to replay, as in a memory snapshot by
/// itself.
[[nodiscard]] const schedule::Schedule* recorded_schedule(std::span<const schedule::Schedule> candidates,
                                                          const trace::Trace& trace, const stages::Cut& cut,
                                                          SiteTable& table, Diagnostics& diagnostics,
                                                          std::optional<double> unrecorded_ns = std::nullopt);

inline constexpr DiagnosticKind kFarFromRecorded{
    "replay.far_from_recorded", Severity::kWarning,
    "at its own pace the recorded schedule does not take, when replayed, what it took: predictions are no better",
    "see the other entries here, and `interlace explain`: something that ran is not in the recording, or in no stage"};

}  // namespace interlace::replay
