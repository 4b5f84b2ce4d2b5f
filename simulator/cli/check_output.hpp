#pragma once

#include <iosfwd>
#include <vector>

#include "simulator/check/schedule_check.hpp"
#include "simulator/cli/check_trace.hpp"
#include "simulator/report/text.hpp"

namespace interlace::cli {

/// What `interlace check` found, in the order of its arguments.
struct CheckAnswer {
  std::vector<check::ScheduleCheck> schedules;
  std::vector<CheckedRecording> traces;
  std::vector<check::Hazard> between_ranks;  ///< where the schedules are those of one job's ranks
};

[[nodiscard]] bool has_hazards(const CheckAnswer& answer);

/// What was found in a trace, in full.
void write_trace_check(std::ostream& out, const CheckedRecording& checked, const report::TextStyle& style);

/// One schedule in full; of several a line each, and in full what is wrong with them.
void write_check_table(std::ostream& out, const CheckAnswer& answer, const report::TextStyle& style);

/// {"schedules": [{"schedule", "source", "verdict", "hazards": [...], "known_hazards": [...], "lost_overlaps": [...],
/// "waits": [...], "pointless_streams": [...], "staleness": [...], "numerics": {...}, "notes": [...]}],
/// "traces": [...], "between_ranks": [...]}, with a newline at the end. docs/check.md describes the fields.
void write_check_json(std::ostream& out, const CheckAnswer& answer);

}  // namespace interlace::cli
