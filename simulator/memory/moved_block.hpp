#pragma once

#include "simulator/memory/lifetimes.hpp"

namespace interlace::memory {

/// Do blocks of the class live on when their segment is over?
[[nodiscard]] bool outlives_segment(const BlockClass& kind, const ClassHistory& history);

/// A block as its segment takes it along into another schedule: let go where it was in the recording, relative to its
/// batch. What outlives its segment comes from the pool that the step of the schedule names. It is used on the streams
/// that the step names or, where the recording tells, on those that stand for the recorded ones.
[[nodiscard]] Fate moved_block(const RecordedMemory& memory, const BlockClass& kind, const schedule::Schedule& recorded,
                               const schedule::Schedule& wanted);

}  // namespace interlace::memory
