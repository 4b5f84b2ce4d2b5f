#pragma once

#include "simulator/base/diagnostics.hpp"
#include "simulator/base/error.hpp"

namespace interlace::report {

inline constexpr ErrorCode kCannotWrite{"report.cannot_write"};
inline constexpr ErrorCode kOtherJob{"report.other_job"};

inline constexpr DiagnosticKind kUnlikeRecordings{
    "report.unlike_recordings", Severity::kWarning,
    "recordings that are given as runs of one job, but launch a tenth more or fewer works a step, exchange a tenth "
    "more or less at most, or take half as long again: the means may be over different jobs",
    "name recordings of the same job with --again; of one that a busy host disturbed, record another run"};

}  // namespace interlace::report
