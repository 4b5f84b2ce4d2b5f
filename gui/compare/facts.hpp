#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"

namespace interlace::gui {

/// "torchrec/base · 37.45 ms a step as recorded · 2 of 2 ranks · 13,771 operations".
[[nodiscard]] std::string facts_of(const Recorded& recorded);
/// "33.52 ms a step (32.83 - 34.24) · 1.103x over 36.97 ms replayed · exposed communication 0.89 ms · device idle ...".
[[nodiscard]] std::string facts_of(const Forecast& forecast);

/// "data loss (ilt.truncated)": what happened but is not in the recording. Empty where nothing is known to lack.
[[nodiscard]] std::string losses_of(const Recorded& recorded);

/// "✗ 2 hazards": the schedule can go wrong, whatever its time. Empty where it cannot.
[[nodiscard]] std::string hazards_of(const Forecast& forecast);

/// What the step at `offset` behind the middle one spends its time on: along its critical path, and while the first
/// rank's device does nothing. Named lines, the longest first; of many causes the rest is one line.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> critical_facts(const Run& run, std::ptrdiff_t offset);
[[nodiscard]] std::vector<std::pair<std::string, std::string>> idle_facts(const Run& run, std::ptrdiff_t offset);

}  // namespace interlace::gui
