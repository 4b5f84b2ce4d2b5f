#pragma once

#include <iosfwd>

#include "simulator/report/predict_report.hpp"

namespace interlace::report {

/// {"recorded": {...}, "predictions": [{"schedule", "step_time_ns", "step_time_low_ns", "step_time_high_ns", "speedup",
/// "overlap": {...}, "exposed_communication_ns", "reasons": [...], "diagnostics": [...], "hazards": [...],
/// "known_hazards": [...], "tables_updates_late", "dense_parameters_updates_late"}], "left_out": [{"schedule",
/// "why"}]}, with a newline at the end. A known hazard is one that the schedule itself says it has (docs/check.md).
/// Where memory was recorded, also "allocated_peak_bytes", "active_peak_bytes", "reserved_peak_bytes",
/// "reserved_low_bytes" and "reserved_high_bytes", each a list with a value a rank, and "memory", what is behind them:
/// there "retries" counts how often the cache is emptied in the "played_steps" from the start of a run, of the run with
/// most. Step times do not include that.
/// Times are as replayed but for the steps and the hidden and exposed communication, which are corrected where the
/// recording tells by how much (docs/validate.md): so the parts of a step do not add up to it.
/// Races stand behind the reasons. Names ending in _ns are integers in nanoseconds, a step; what is not known is null.
void write_predict_json(std::ostream& out, const PredictReport& report);

/// RFC 4180: a header, then a line a schedule with the same values; reasons and diagnostic codes joined by "; ".
/// "cache_emptied" is "retries" of the rank with most.
void write_predict_csv(std::ostream& out, const PredictReport& report);

}  // namespace interlace::report
