#pragma once

#include <optional>
#include <string>

#include "simulator/ingest/read.hpp"

namespace interlace::cli {

/// Counts what says that two traces are not of one schedule, or stand the wrong way round:
/// - explain.measured_is_predicted, of the first trace, where it is one that `predict --out` wrote;
/// - explain.without_recorder, of the second, where it is a prediction of what runs without the recorder;
/// - explain.other_schedule, of the second, with both names, where the first one's is known and another. A predicted
///   trace and a recording of the engine say their schedule; another recording is recognised (replay::recognise),
///   where the second says its own.
/// profile: as of staged().
void count_differing_schedules(ingest::Recording& measured, ingest::Recording& predicted,
                               const std::optional<std::string>& profile);

}  // namespace interlace::cli
