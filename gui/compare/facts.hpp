#pragma once

#include <string>

#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"

namespace interlace::gui {

/// "torchrec/base · 37.45 ms a step as recorded · 2 of 2 ranks · 13,771 operations".
[[nodiscard]] std::string facts_of(const Recorded& recorded);
/// "33.52 ms a step (32.83 - 34.24) · 1.103x · exposed communication 0.89 ms · device idle 0.41 ms".
[[nodiscard]] std::string facts_of(const Forecast& forecast);

}  // namespace interlace::gui
