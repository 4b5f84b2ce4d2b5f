#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "simulator/report/predict_report.hpp"
#include "simulator/report/timeline_picture.hpp"

namespace interlace::report {

/// Pictures that belong above each other: the measured step and a predicted one.
struct TimelineComparison {
  std::string title;
  std::vector<TimelinePicture> pictures;
};

/// One file that needs nothing else: the table, the step times with their intervals, timelines, why each schedule
/// differs, and the data quality. Light or dark as the reader's system wishes. Well-formed XML.
void write_html(std::ostream& out, const PredictReport& report, std::span<const TimelineComparison> timelines);

}  // namespace interlace::report
