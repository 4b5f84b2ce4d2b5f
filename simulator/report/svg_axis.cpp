#include "simulator/report/svg_axis.hpp"

#include <fmt/format.h>

namespace interlace::report {

std::vector<Nanoseconds> axis_marks(Nanoseconds from, Nanoseconds to, int at_most) {
  std::vector<Nanoseconds> marks;
  if (to <= from || at_most < 1) return marks;
  const auto count = [&](Nanoseconds step) { return to / step - (from + step - 1) / step + 1; };
  Nanoseconds decade = 1;
  Nanoseconds step = 1;
  while (count(step) > at_most) {
    if (step == decade) {
      step = 2 * decade;
    } else if (step == 2 * decade) {
      step = 5 * decade;
    } else {
      decade *= 10;
      step = decade;
    }
  }
  for (Nanoseconds at = (from + step - 1) / step * step; at <= to; at += step) marks.push_back(at);
  return marks;
}

std::string mark_text(Nanoseconds at, Nanoseconds apart) {
  if (apart < kMicrosecond) return fmt::format("{} ns", at);
  int decimals = 0;
  for (Nanoseconds unit = kMillisecond; unit > apart && decimals < 3; unit /= 10) ++decimals;
  return fmt::format("{:.{}f} ms", static_cast<double>(at) / static_cast<double>(kMillisecond), decimals);
}

}  // namespace interlace::report
