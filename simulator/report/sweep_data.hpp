#pragma once

#include <iosfwd>
#include <string>

#include "simulator/report/sweep_report.hpp"

namespace interlace::report {

/// {"recorded": {...} as of write_predict_json, "swept": {"what", "edit", "unit": "times" or "microseconds", "values",
/// "around"}, "schedules": [{"schedule", "recorded", "cost", "flat_up_to", "flat_from", "hazards", "known_hazards",
/// "tables_updates_late", "dense_parameters_updates_late", "diagnostics", "points": [{"value", "step_time_ns",
/// "step_time_low_ns", "step_time_high_ns", "speedup", "exposed_communication_ns", "idle_ns", "host_blocked_ns",
/// "fits", "fastest"}]}], "overtakings": [{"overtaken", "by", "from", "to", "at", "clear_from"}], "left_out": [...]},
/// with a newline at the end. A cost is that of cost() at the value "around"; "flat_up_to" and "flat_from" are values,
/// null where there is no such end.
void write_sweep_json(std::ostream& out, const SweepReport& report);

/// RFC 4180: a header, then a line a value and schedule.
void write_sweep_csv(std::ostream& out, const SweepReport& report);

/// An SVG document: step time over value, a line a schedule in a band from the 10th to the 90th percentile of steps,
/// its name at the line's end. Values of kTimes on a logarithmic axis. Lines differ in colour, dashes and marks, so
/// that they are told apart in print and by colour-blind readers.
[[nodiscard]] std::string sweep_plot(const SweepReport& report);

}  // namespace interlace::report
