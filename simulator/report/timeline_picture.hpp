#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/analysis/annotations.hpp"
#include "simulator/analysis/step_window.hpp"
#include "simulator/base/interval.hpp"

namespace interlace::report {

enum class BoxKind : std::uint8_t { kStage, kBlocked, kCompute, kCommunication, kCopy };

/// A span on a row of a picture. Neighbours of one kind and label with less than the resolution between them are one.
struct TimelineBox {
  Interval span;  ///< from the beginning of the window
  BoxKind kind = BoxKind::kCompute;
  std::string label;    ///< stage and batch; "" for device work outside all stages
  std::string tooltip;  ///< the name of the operation, and how many the box stands for

  bool operator==(const TimelineBox&) const = default;
};

struct TimelineRow {
  std::string name;
  std::vector<TimelineBox> boxes;  ///< by start, without overlap

  bool operator==(const TimelineRow&) const = default;
};

/// What one rank does within a window of time, ready to be drawn.
struct TimelinePicture {
  std::string title;
  Nanoseconds length = 0;
  std::vector<TimelineRow> rows;  ///< the main thread (stages, then where it blocks), then the streams
};

/// resolution: gaps shorter than this are not drawn. Streams without work in the window have no row; operations of one
/// stream that overlap have rows of their own.
[[nodiscard]] TimelinePicture timeline_picture(const trace::Trace& trace, const analysis::Annotations& annotations,
                                               trace::RankId rank, Interval window, std::string title,
                                               Nanoseconds resolution);

/// One step of the first rank: in the middle of its window (the earlier of two), as long as they are in the mean. As
/// fine as an SVG shows it.
[[nodiscard]] TimelinePicture picture_of_step(const trace::Trace& trace, const analysis::StepWindow& window,
                                              std::string title);

}  // namespace interlace::report
