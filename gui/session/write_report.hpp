#pragma once

#include <filesystem>
#include <span>

#include "gui/session/forecast.hpp"
#include "gui/session/recorded.hpp"
#include "simulator/base/error.hpp"

namespace interlace::gui {

inline constexpr ErrorCode kUnknownReportFormat{"gui.unknown_report_format"};

/// The recording and its predictions, in that order, as `interlace predict` reports them. left_out: schedules that were
/// asked for in a list and do not apply.
[[nodiscard]] report::PredictReport report_of(const Recorded& recorded, std::span<const ForecastPtr> forecasts,
                                              std::span<const report::SkippedSchedule> left_out);

/// Writes that report: .html with timelines, .json or .csv by the end of the name. Blocks. Throws
/// gui.unknown_report_format, report.cannot_write.
void write_report(const Recorded& recorded, std::span<const ForecastPtr> forecasts,
                  std::span<const report::SkippedSchedule> left_out, const std::filesystem::path& file);

}  // namespace interlace::gui
