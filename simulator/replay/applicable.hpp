#pragma once

#include <functional>
#include <optional>
#include <string>

#include "simulator/replay/sites.hpp"
#include "simulator/schedule/schedule.hpp"

namespace interlace::replay {

/// Of one schedule among many: calls `predict`, which predicts it, unless it says nothing about the recording. Then
/// returns why, in words: it leaves a stage out that the recorded loop cannot do without, or runs one that was not
/// recorded, as `predict` finds by throwing replay.stage_not_recorded. What else that throws is passed on.
[[nodiscard]] std::optional<std::string> predict_if_applicable(const schedule::Schedule& schedule,
                                                               const SiteTable& table,
                                                               const std::function<void()>& predict);

}  // namespace interlace::replay
