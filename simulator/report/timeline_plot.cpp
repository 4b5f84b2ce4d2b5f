#include <algorithm>
#include <array>

#include "simulator/report/markup.hpp"
#include "simulator/report/svg.hpp"
#include "simulator/report/svg_axis.hpp"
#include "simulator/report/text.hpp"

namespace interlace::report {

namespace {

std::string_view class_of(BoxKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"stage", "blocked", "compute", "communication", "copy"};
  return kNames[static_cast<std::size_t>(kind)];
}

class Drawing {
 public:
  explicit Drawing(Nanoseconds longest)
      : pixels_a_ns_(static_cast<double>(kPlotPixels - kNameWidth) /
                     static_cast<double>(std::max<Nanoseconds>(1, longest))) {}

  void picture(const TimelinePicture& picture) {
    svg_.put("<text class=\"title\" x=\"0\" y=\"{}\">{}</text>\n", y_ + 17,
             escaped_markup(fmt::format("{}: {} ms", picture.title, milliseconds(picture.length))));
    y_ += kTitleHeight;
    const int top = y_;
    for (const TimelineRow& row : picture.rows) {
      svg_.put("<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kNameWidth - 8, y_ + 13,
               escaped_markup(shortened_middle(row.name, 22)));
      svg_.put("<rect class=\"lane\" x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>\n", kNameWidth, y_,
               static_cast<double>(picture.length) * pixels_a_ns_, kBoxHeight);
      y_ += kRowHeight;
    }
    axis(picture.length, top, y_);
    int row_top = top;
    for (const TimelineRow& row : picture.rows) {
      for (const TimelineBox& one : row.boxes) box(one, row_top);
      row_top += kRowHeight;
    }
    y_ += kAxisHeight;
  }

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "aria-label=\"timelines\">\n{2}</svg>\n",
        kPlotPixels + 30, y_, svg_.text());
  }

 private:
  static constexpr int kNameWidth = 150;
  static constexpr int kRowHeight = 22;
  static constexpr int kBoxHeight = 18;
  static constexpr int kTitleHeight = 26;
  static constexpr int kAxisHeight = 26;
  static constexpr double kLetterWidth = 6.2;  // of the 10-pixel text in the boxes, roughly

  void box(const TimelineBox& one, int top) {
    const double x = kNameWidth + static_cast<double>(one.span.begin) * pixels_a_ns_;
    const double width = std::max(0.3, static_cast<double>(one.span.length()) * pixels_a_ns_);
    svg_.put(
        "<g class=\"{}\"><title>{}{}{}, {} ms</title>"
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>",
        class_of(one.kind), escaped_markup(one.label), one.label.empty() ? "" : ": ", escaped_markup(one.tooltip),
        fmt::format("{:.3f}", static_cast<double>(one.span.length()) / static_cast<double>(kMillisecond)), x, top,
        width, kBoxHeight);
    const auto letters = static_cast<std::size_t>(std::max(0.0, (width - 6) / kLetterWidth));
    if (letters >= 4 && !one.label.empty()) {
      svg_.put("<text class=\"label\" x=\"{:.2f}\" y=\"{}\">{}</text>", x + 3, top + 13,
               escaped_markup(shortened(one.label, letters)));
    }
    svg_.put("</g>\n");
  }

  void axis(Nanoseconds length, int top, int bottom) {
    const auto marks = axis_marks(0, length, 12);
    const Nanoseconds apart = marks.size() > 1 ? marks[1] - marks[0] : kMillisecond;
    for (const Nanoseconds mark : marks) {
      const double x = kNameWidth + static_cast<double>(mark) * pixels_a_ns_;
      svg_.put("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, top, bottom);
      svg_.put("<text class=\"mark\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, bottom + 13,
               mark_text(mark, apart));
    }
  }

  double pixels_a_ns_;
  int y_ = 0;
  Markup svg_;
};

}  // namespace

std::string timeline_plot(std::span<const TimelinePicture> pictures) {
  Nanoseconds longest = 0;
  for (const TimelinePicture& picture : pictures) longest = std::max(longest, picture.length);
  Drawing drawing(longest);
  for (const TimelinePicture& picture : pictures) drawing.picture(picture);
  return drawing.text();
}

}  // namespace interlace::report
