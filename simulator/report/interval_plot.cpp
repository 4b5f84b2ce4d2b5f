#include <algorithm>

#include "simulator/report/markup.hpp"
#include "simulator/report/svg.hpp"
#include "simulator/report/svg_axis.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

constexpr int kNameWidth = 330;
constexpr int kRowHeight = 26;
constexpr int kTop = 8;
constexpr int kAxisHeight = 24;
constexpr int kRight = 60;

struct Scale {
  Nanoseconds from = 0;
  Nanoseconds to = 1;

  [[nodiscard]] double x(Nanoseconds time) const {
    const double width = kPlotPixels - kNameWidth - kRight;
    return kNameWidth + width * static_cast<double>(time - from) / static_cast<double>(to - from);
  }
};

/// All that is drawn, with a little room at both ends.
Scale scale_of(const PredictReport& report) {
  Nanoseconds low = report.predictions.front().step_time_ns;
  Nanoseconds high = low;
  for (const Prediction& row : report.predictions) {
    low = std::min({low, row.step_time_low_ns, row.step_time_ns});
    high = std::max({high, row.step_time_high_ns, row.step_time_ns});
  }
  if (report.recorded.predicted_step_time_ns) {
    low = std::min(low, *report.recorded.predicted_step_time_ns);
    high = std::max(high, *report.recorded.predicted_step_time_ns);
  }
  const Nanoseconds room = std::max<Nanoseconds>((high - low) / 20, 1000);
  return {low - room, high + room};
}

}  // namespace

std::string interval_plot(const PredictReport& report) {
  if (report.predictions.empty()) return {};
  const Scale scale = scale_of(report);
  const auto order = by_step_time(report);
  const int bottom = kTop + kRowHeight * static_cast<int>(order.size());
  Markup svg;
  svg.put(
      "<svg class=\"plot\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"predicted step times with their intervals\">\n",
      kPlotPixels, bottom + kAxisHeight);
  const auto marks = axis_marks(scale.from, scale.to, 8);
  for (const Nanoseconds mark : marks) {
    const double x = scale.x(mark);
    svg.put("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, kTop, bottom);
    svg.put("<text class=\"mark\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, bottom + 16,
            mark_text(mark, marks.size() > 1 ? marks[1] - marks[0] : kMillisecond));
  }
  if (report.recorded.predicted_step_time_ns) {
    svg.put(
        "<line class=\"recorded\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\">"
        "<title>the recorded schedule, replayed: {3} ms</title></line>\n",
        scale.x(*report.recorded.predicted_step_time_ns), kTop, bottom,
        milliseconds(*report.recorded.predicted_step_time_ns));
  }
  int y = kTop + kRowHeight / 2;
  for (const std::size_t i : order) {
    const Prediction& row = report.predictions[i];
    const double low = scale.x(std::min(row.step_time_low_ns, row.step_time_ns));
    const double high = scale.x(std::max(row.step_time_high_ns, row.step_time_ns));
    svg.put("<g class=\"{}\"><title>{}: {} ms, p10 {} ms, p90 {} ms</title>",
            is_best(report.predictions, i) ? "row best" : "row", escaped_markup(row.schedule),
            milliseconds(row.step_time_ns), milliseconds(row.step_time_low_ns), milliseconds(row.step_time_high_ns));
    svg.put("<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kNameWidth - 12, y + 4,
            escaped_markup(shortened_middle(row.schedule, 46)));
    svg.put("<rect class=\"whisker\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"8\" rx=\"4\"/>", low, y - 4,
            std::max(1.0, high - low));
    svg.put("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{}\" r=\"5\"/>", scale.x(row.step_time_ns), y);
    svg.put("<text class=\"value\" x=\"{:.1f}\" y=\"{}\">{}</text></g>\n", high + 10, y + 4,
            milliseconds(row.step_time_ns));
    y += kRowHeight;
  }
  svg.put("</svg>\n");
  return svg.text();
}

}  // namespace interlace::report
