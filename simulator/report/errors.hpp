#pragma once

#include "simulator/base/error.hpp"

namespace interlace::report {

inline constexpr ErrorCode kCannotWrite{"report.cannot_write"};
inline constexpr ErrorCode kOtherJob{"report.other_job"};

}  // namespace interlace::report
