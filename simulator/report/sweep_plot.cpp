#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "simulator/report/markup.hpp"
#include "simulator/report/svg.hpp"
#include "simulator/report/svg_axis.hpp"
#include "simulator/report/sweep_data.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

constexpr double kPlotLeft = 70;
constexpr double kPlotTop = 48;
constexpr double kPlotWidth = 620;
constexpr double kLeastHeight = 360;
constexpr double kUnder = 56;   // the plot: marks of its axis, and what that is of
constexpr double kNameAt = 64;  // behind the plot's end, where names begin
constexpr double kLineHeight = 16;

/// Okabe and Ito's colours without the yellow, which is lost on paper.
constexpr std::array<const char*, 7> kInks{"#0072b2", "#d55e00", "#009e73", "#a3528a", "#b87800", "#3a93c4", "#222222"};
/// As many as have no common divisor with the colours: so neighbours differ in both, and pairs come round late.
constexpr std::array<const char*, 4> kDashes{"none", "8 3", "2 3", "10 3 2 3"};

// All looks are attributes: what puts the picture into a paper need not know style sheets.
constexpr const char* kGrid = "stroke=\"#d8dee4\"";
constexpr const char* kUsualLine = "stroke=\"#57606a\" stroke-dasharray=\"2 2\"";
constexpr const char* kMarkText = "fill=\"#57606a\" font-size=\"11\"";

/// Where a time and a value lie.
class Canvas {
 public:
  explicit Canvas(const SweepReport& report) : report_(report) {
    from_ = to_ = report.rows.front().front().step_time_ns;
    for (const std::vector<Prediction>& row : report.rows) {
      for (const Prediction& one : row) {
        from_ = std::min({from_, one.step_time_low_ns, one.step_time_ns});
        to_ = std::max({to_, one.step_time_high_ns, one.step_time_ns});
      }
    }
    const Nanoseconds room = std::max<Nanoseconds>((to_ - from_) / 20, 1000);
    from_ -= room;
    to_ += room;
    height_ = std::max(kLeastHeight, kLineHeight * static_cast<double>(report.rows.front().size() + 1));
  }

  [[nodiscard]] double x(double value) const {
    const double low = scaled(report_.values.front());
    const double high = scaled(report_.values.back());
    return kPlotLeft + (high > low ? (scaled(value) - low) / (high - low) : 0.5) * kPlotWidth;
  }
  [[nodiscard]] double y(Nanoseconds time) const {
    return kPlotTop + height_ * static_cast<double>(to_ - time) / static_cast<double>(to_ - from_);
  }
  [[nodiscard]] double bottom() const { return kPlotTop + height_; }
  [[nodiscard]] std::vector<Nanoseconds> marks() const { return axis_marks(from_, to_, 9); }

 private:
  [[nodiscard]] double scaled(double value) const {
    return report_.scale == SweepScale::kTimes ? std::log(value) : value;
  }

  const SweepReport& report_;
  Nanoseconds from_ = 0;
  Nanoseconds to_ = 1;
  double height_ = kLeastHeight;
};

void put_axes(Markup& svg, const SweepReport& report, const Canvas& canvas) {
  const std::vector<Nanoseconds> marks = canvas.marks();
  for (const Nanoseconds mark : marks) {
    const double y = canvas.y(mark);
    svg.put("<path {} d=\"M{} {:.1f}h{}\"/>", kGrid, kPlotLeft, y, kPlotWidth);
    svg.put("<text {} x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kMarkText, kPlotLeft - 8, y + 4,
            mark_text(mark, marks.size() > 1 ? marks[1] - marks[0] : kMillisecond));
  }
  double free_from = 0;  // on the axis below, for the next value
  for (const double value : report.values) {
    constexpr double kDigit = 6.5;
    const std::string text = fmt::format("{}", value);
    const double half = kDigit * static_cast<double>(text.size()) / 2;
    const double x = canvas.x(value);
    svg.put("<path {} d=\"M{:.1f} {}V{:.1f}\"/>", kGrid, x, kPlotTop, canvas.bottom() + 4);
    if (x - half < free_from) continue;
    free_from = x + half + kDigit;
    svg.put("<text {} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", kMarkText, x, canvas.bottom() + 18,
            text);
  }
  const bool times = report.scale == SweepScale::kTimes;
  if (times && report.values.front() <= 1 && report.values.back() >= 1) {
    svg.put("<path {} d=\"M{:.1f} {}V{:.1f}\"><title>as recorded</title></path>\n", kUsualLine, canvas.x(1), kPlotTop,
            canvas.bottom());
  }
  svg.put("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">x{}: {}</text>\n", kPlotLeft + kPlotWidth / 2,
          canvas.bottom() + 40, times ? ", 1 as recorded" : " in us", escaped_markup(report.swept));
}

/// A mark of its own for each of four schedules that follow each other.
void put_mark(Markup& svg, std::size_t schedule, double x, double y) {
  const char* ink = kInks[schedule % kInks.size()];
  switch (schedule % 4) {
    case 0: svg.put("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>", x, y, ink); break;
    case 1: svg.put("<path d=\"M{:.1f} {:.1f}h7v7h-7z\" fill=\"{}\"/>", x - 3.5, y - 3.5, ink); break;
    case 2: svg.put("<path d=\"M{:.1f} {:.1f}l4.5 8h-9z\" fill=\"{}\"/>", x, y - 5, ink); break;
    default:
      svg.put("<path d=\"M{:.1f} {:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\" fill=\"#fff\" stroke=\"{}\"/>", x, y - 4.5, ink);
  }
}

void put_band(Markup& svg, const SweepReport& report, std::size_t schedule, const Canvas& canvas) {
  // Many lie on each other: all together they stay light enough for lines to be seen.
  const double opacity = std::min(0.16, 0.8 / static_cast<double>(report.rows.front().size()));
  svg.put("<path fill=\"{}\" fill-opacity=\"{:.3f}\" d=\"", kInks[schedule % kInks.size()], opacity);
  for (std::size_t i = 0; i < report.values.size(); ++i) {
    const Nanoseconds high = report.rows[i][schedule].step_time_high_ns;
    svg.put("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", canvas.x(report.values[i]), canvas.y(high));
  }
  for (std::size_t i = report.values.size(); i-- > 0;) {
    svg.put("L{:.1f} {:.1f}", canvas.x(report.values[i]), canvas.y(report.rows[i][schedule].step_time_low_ns));
  }
  svg.put("z\"/>\n");
}

void put_line(Markup& svg, const SweepReport& report, std::size_t schedule, const Canvas& canvas) {
  svg.put("<g><title>{}</title><path fill=\"none\" stroke-width=\"2\" stroke=\"{}\" stroke-dasharray=\"{}\" d=\"",
          escaped_markup(report.rows.front()[schedule].schedule), kInks[schedule % kInks.size()],
          kDashes[schedule % kDashes.size()]);
  for (std::size_t i = 0; i < report.values.size(); ++i) {
    svg.put("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", canvas.x(report.values[i]),
            canvas.y(report.rows[i][schedule].step_time_ns));
  }
  svg.put("\"/>");
  for (std::size_t i = 0; i < report.values.size(); ++i) {
    put_mark(svg, schedule, canvas.x(report.values[i]), canvas.y(report.rows[i][schedule].step_time_ns));
  }
  svg.put("</g>\n");
}

/// Heights of the names, by schedule: each at the end of its line, or so far from it that names do not touch.
std::vector<double> name_heights(const SweepReport& report, const Canvas& canvas) {
  const std::vector<Prediction>& ends = report.rows.back();
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return ends[i].step_time_ns; });
  std::vector<double> heights(ends.size());
  double free_from = kPlotTop;
  for (const std::size_t i : order) {
    heights[i] = std::max(free_from, canvas.y(ends[i].step_time_ns));
    free_from = heights[i] + kLineHeight;
  }
  double free_to = canvas.bottom();
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    heights[*i] = std::min(free_to, heights[*i]);
    free_to = heights[*i] - kLineHeight;
  }
  return heights;
}

/// As they stand at the ends of lines.
std::vector<std::string> shown_names(const SweepReport& report) {
  constexpr std::size_t kLongest = 46;
  std::vector<std::string> names = brief_names(report);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = shortened_middle(is_recorded(report, i) ? names[i] + " (recorded)" : names[i], kLongest);
  }
  return names;
}

void put_names(Markup& svg, const SweepReport& report, const std::vector<std::string>& names, const Canvas& canvas) {
  const std::vector<double> heights = name_heights(report, canvas);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double end = canvas.x(report.values.back());
    const double at = kPlotLeft + kPlotWidth + kNameAt;
    svg.put("<path fill=\"none\" stroke-width=\"0.7\" stroke=\"{}\" d=\"M{:.1f} {:.1f}L{} {:.1f}h20\"/>",
            kInks[i % kInks.size()], end + 5, canvas.y(report.rows.back()[i].step_time_ns), at - 26, heights[i]);
    put_mark(svg, i, at - 12, heights[i]);
    svg.put("<text{} x=\"{}\" y=\"{:.1f}\">{}</text>\n", is_recorded(report, i) ? " font-weight=\"bold\"" : "", at,
            heights[i] + 4, escaped_markup(names[i]));
  }
}

}  // namespace

std::string sweep_plot(const SweepReport& report) {
  Markup svg;
  if (report.rows.front().empty()) return {};
  const Canvas canvas(report);
  const std::vector<std::string> names = shown_names(report);
  constexpr double kLetter = 7.5;  // of the widest of usual fonts, bold
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, columns_of(name));
  const double width = std::ceil(kPlotLeft + kPlotWidth + kNameAt + kLetter * static_cast<double>(longest)) + 8;
  svg.put(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#24292f\">\n",
      width, canvas.bottom() + kUnder);
  svg.put("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", width, canvas.bottom() + kUnder);
  svg.put(
      "<text font-weight=\"bold\" x=\"{}\" y=\"24\">Predicted step time; bands hold single steps, slowest and fastest "
      "tenth aside</text>\n",
      kPlotLeft);
  put_axes(svg, report, canvas);
  const std::size_t schedules = report.rows.front().size();
  for (std::size_t i = 0; i < schedules; ++i) put_band(svg, report, i, canvas);
  for (std::size_t i = 0; i < schedules; ++i) put_line(svg, report, i, canvas);
  put_names(svg, report, names, canvas);
  svg.put("</svg>\n");
  return svg.text();
}

}  // namespace interlace::report
