#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "simulator/report/predict_report.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

/// What tables of predictions have in common.

inline constexpr std::size_t kUnderRow = 4;  ///< columns that what stands under a row is indented by

/// A paragraph with its title in the margin.
void write_titled(std::ostream& out, std::string_view title, const std::string& text, const TextStyle& style);
/// "exposed communication 0.85 ms (86 % hidden), device idle ...".
[[nodiscard]] std::string device_line(const analysis::OverlapSummary& overlap,
                                      std::optional<Nanoseconds> host_blocked_ns);
/// What was recorded, with the edits that were made to it.
void write_recorded(std::ostream& out, const RecordedRun& recorded, const TextStyle& style);
/// Lines of a text behind a mark, indented under a row.
void write_item(std::ostream& out, std::string_view mark, const std::string& text, const TextStyle& style);
/// How late what it reads is; nothing where nothing is.
[[nodiscard]] std::string staleness_line(const Prediction& row);
/// Which schedules were left out, and why, behind an empty line.
void write_left_out(std::ostream& out, std::span<const SkippedSchedule> skipped, const TextStyle& style);

}  // namespace interlace::report
