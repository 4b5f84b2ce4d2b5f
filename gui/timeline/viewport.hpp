#pragma once

#include "simulator/base/interval.hpp"

namespace interlace::gui {

/// Which part of a time axis lies on a strip of pixels: x = (t - begin_ns) / ns_per_px. Times are those of one trace,
/// or of an axis that several traces share. A value: moving it makes another one.
struct Viewport {
  double begin_ns = 0;
  double ns_per_px = 1;
  double width = 1;  ///< pixels

  [[nodiscard]] double x_of(double ns) const { return (ns - begin_ns) / ns_per_px; }
  [[nodiscard]] double x_of(Nanoseconds t) const { return x_of(static_cast<double>(t)); }
  [[nodiscard]] double ns_at(double x) const { return begin_ns + x * ns_per_px; }
  /// The nearest nanosecond.
  [[nodiscard]] Nanoseconds time_at(double x) const;
  [[nodiscard]] double end_ns() const { return ns_at(width); }
  /// Rounded outwards.
  [[nodiscard]] Interval visible() const;
  /// The same picture of an axis whose zero lies `by_ns` later: what was at t is at t + by_ns.
  [[nodiscard]] Viewport shifted(double by_ns) const { return {begin_ns + by_ns, ns_per_px, width}; }

  bool operator==(const Viewport&) const = default;
};

/// The most that can be zoomed in: a nanosecond is this many pixels wide.
inline constexpr double kMostPixelsPerNs = 20;

/// factor > 1 shows less time; what is at pixel at_x stays there.
[[nodiscard]] Viewport zoomed(const Viewport& view, double factor, double at_x);
/// Content moves right by `px` pixels.
[[nodiscard]] Viewport panned(const Viewport& view, double px);
/// Shows the span with `margin` (a part of its length) free on either side. An empty span is shown as a microsecond.
[[nodiscard]] Viewport fitted(Interval span, double width, double margin = 0.03);
/// The same scale with the middle of the span in the middle.
[[nodiscard]] Viewport centred(const Viewport& view, Interval span);
/// The same begin and scale on another width.
[[nodiscard]] Viewport resized(const Viewport& view, double width);
/// Not zoomed out further than three times `limits`, nor in beyond kMostPixelsPerNs, and with some of `limits` in
/// sight.
[[nodiscard]] Viewport clamped(const Viewport& view, Interval limits);

}  // namespace interlace::gui
