#pragma once

#include "gui/timeline/tags.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"
#include "simulator/trace/trace.hpp"

namespace interlace::gui {

/// Stages and batches of a recording. What the cut knows has the words of the schedule language: device work that of
/// its launch; host calls and ranges between two cut calls of one stage that stage. The batch is that of the iteration,
/// moved by the step's offset where the recorded schedule is known. At the ends of a recording, outside the whole
/// iterations, names tell. Without a cut the recording's own annotations name the stage. cut, recorded: may be null.
[[nodiscard]] Tags tags_of_recording(const trace::Trace& trace, const stages::Cut* cut,
                                     const schedule::Schedule* recorded);

/// Stages and batches of a predicted trace, from its ranges "<stage> <batch>". Batches count from the one that the
/// first step trains.
[[nodiscard]] Tags tags_of_prediction(const trace::Trace& trace);

}  // namespace interlace::gui
