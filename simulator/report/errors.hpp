#pragma once

#include "simulator/base/error.hpp"

namespace interlace::report {

inline constexpr ErrorCode kCannotWrite{"report.cannot_write"};

}  // namespace interlace::report
