#pragma once

#include <optional>

#include "simulator/base/units.hpp"

namespace interlace {

/// What the machine has; none where it does not tell.
[[nodiscard]] std::optional<Bytes> physical_memory();

}  // namespace interlace
