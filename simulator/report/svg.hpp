#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simulator/report/predict_report.hpp"
#include "simulator/report/timeline_picture.hpp"

namespace interlace::report {

/// For text and attribute values of XML and HTML. Bytes that are no UTF-8 and control characters that XML forbids
/// become U+FFFD.
[[nodiscard]] std::string escaped_markup(std::string_view text);

/// An <svg> element with a row a prediction, fastest first: the interval as a bar, the step time as a dot, the recorded
/// schedule's replay as a dashed line. Colours come from the classes of the page it stands in.
[[nodiscard]] std::string interval_plot(const PredictReport& report);

/// An <svg> element with pictures above each other on one scale, so that equal lengths are equal times.
[[nodiscard]] std::string timeline_plot(std::span<const TimelinePicture> pictures);

/// Width of the plots' time axis in pixels; timeline_picture's resolution may follow from it.
inline constexpr int kPlotPixels = 1100;

}  // namespace interlace::report
