#pragma once

#include "simulator/base/error.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::engine {

inline constexpr ErrorCode kUnorderedProcessor{"engine.unordered_processor"};

/// The limit of schedules that look up ahead on a stream of their own: tables are updated there, but the weights of
/// feature processors are updated by optimizer_step, as all dense parameters, so that streams or waits must order that
/// and what uses them (feature_processor; embedding_lookup where the schedule has none). Throws
/// engine.unordered_processor where they do not. Specimens ("hazardous") are left alone. How many updates a use misses
/// says `interlace check --feature-processors`.
void require_ordered_processors(const schedule::Schedule& schedule);

}  // namespace interlace::engine
