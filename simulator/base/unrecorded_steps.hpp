#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/base/units.hpp"

namespace interlace {

/// How long steps of a program took while nothing was recorded. A program puts it into its recording as a mark
/// (docs/recording.md); predictions tell from it what being recorded costs the host.
struct UnrecordedSteps {
  std::int64_t steps = 0;
  Nanoseconds time = 0;  ///< of all of them

  friend bool operator==(const UnrecordedSteps&, const UnrecordedSteps&) = default;
};

/// "unrecorded steps: 20 in 171234567 ns"
[[nodiscard]] std::string to_mark(const UnrecordedSteps& told);
/// None where the text is no such mark, or tells of no steps or no time.
[[nodiscard]] std::optional<UnrecordedSteps> unrecorded_steps_of(std::string_view mark);

}  // namespace interlace
