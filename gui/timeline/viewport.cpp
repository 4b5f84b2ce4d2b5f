#include "gui/timeline/viewport.hpp"

#include <algorithm>
#include <cmath>

namespace interlace::gui {

Nanoseconds Viewport::time_at(double x) const { return std::llround(ns_at(x)); }

Interval Viewport::visible() const {
  return {static_cast<Nanoseconds>(std::floor(begin_ns)), static_cast<Nanoseconds>(std::ceil(end_ns()))};
}

Viewport zoomed(const Viewport& view, double factor, double at_x) {
  const double ns_per_px = view.ns_per_px / factor;
  return {view.ns_at(at_x) - at_x * ns_per_px, ns_per_px, view.width};
}

Viewport panned(const Viewport& view, double px) {
  return {view.begin_ns - px * view.ns_per_px, view.ns_per_px, view.width};
}

Viewport fitted(Interval span, double width, double margin) {
  const double length = span.length() > 0 ? static_cast<double>(span.length()) : static_cast<double>(kMicrosecond);
  const double middle = static_cast<double>(span.begin) + static_cast<double>(span.length()) / 2;
  const double shown = length * (1 + 2 * margin);
  return {middle - shown / 2, shown / std::max(width, 1.0), width};
}

Viewport centred(const Viewport& view, Interval span) {
  const double middle = static_cast<double>(span.begin) + static_cast<double>(span.length()) / 2;
  return {middle - view.ns_per_px * view.width / 2, view.ns_per_px, view.width};
}

Viewport resized(const Viewport& view, double width) { return {view.begin_ns, view.ns_per_px, width}; }

Viewport clamped(const Viewport& view, Interval limits) {
  constexpr double kMostZoomedOut = 3;
  const double length = std::max(static_cast<double>(limits.length()), static_cast<double>(kMicrosecond));
  const double width = std::max(view.width, 1.0);
  const double ns_per_px =
      std::clamp(view.ns_per_px, 1 / kMostPixelsPerNs, std::max(length * kMostZoomedOut / width, 1 / kMostPixelsPerNs));
  // The middle stays where it is while the scale is corrected, and never leaves the limits.
  double middle = view.ns_at(width / 2);
  middle = std::clamp(middle, static_cast<double>(limits.begin), static_cast<double>(limits.begin) + length);
  if (ns_per_px == view.ns_per_px && middle == view.ns_at(width / 2)) return view;
  return {middle - ns_per_px * width / 2, ns_per_px, view.width};
}

}  // namespace interlace::gui
