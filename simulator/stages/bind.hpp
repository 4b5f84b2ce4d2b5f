#pragma once

#include "simulator/base/error.hpp"
#include "simulator/schedule/schedule.hpp"
#include "simulator/stages/cut.hpp"

namespace interlace::stages {

inline constexpr ErrorCode kUnknownModule{"stages.unknown_module"};

/// The same schedule with the numbers of the modules that its steps name (StageStep::module_number) in this recording.
/// Throws Error(stages.unknown_module) where the recording has no module of that name.
[[nodiscard]] schedule::Schedule bound_to(const Cut& recording, schedule::Schedule schedule);

}  // namespace interlace::stages
