#pragma once

#include <string>

namespace interlace {

/// Sixteen digits of hexadecimal, by what randomness the system has: tells recordings apart.
[[nodiscard]] std::string random_name();

}  // namespace interlace
