#include "simulator/report/timeline_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/analysis/device_class.hpp"
#include "simulator/analysis/host_blocking.hpp"
#include "simulator/report/svg.hpp"
#include "simulator/report/text.hpp"
#include "simulator/report/tracks.hpp"

namespace interlace::report {

namespace {

using trace::OperationId;

BoxKind box_kind(analysis::DeviceClass device_class) {
  switch (device_class) {
    case analysis::DeviceClass::kCompute: return BoxKind::kCompute;
    case analysis::DeviceClass::kCommunication: return BoxKind::kCommunication;
    case analysis::DeviceClass::kCopy: return BoxKind::kCopy;
  }
  return BoxKind::kCompute;
}

std::string text_of(const analysis::StageLabel& label) {
  return label.batch ? fmt::format("{} {}", label.stage, *label.batch) : std::string(label.stage);
}

/// Fills one row from left to right.
class RowWriter {
 public:
  RowWriter(TimelineRow& row, Interval window, Nanoseconds resolution)
      : row_(row), window_(window), resolution_(resolution) {}

  void add(Interval when, BoxKind kind, std::string label, std::string_view name) {
    Interval span = intersection(when, window_);
    if (span.length() == 0) return;
    span.begin -= window_.begin;
    span.end -= window_.begin;
    if (!row_.boxes.empty()) {
      TimelineBox& last = row_.boxes.back();
      if (last.kind == kind && last.label == label && span.begin - last.span.end < resolution_) {
        last.span.end = std::max(last.span.end, span.end);
        ++merged_;
        last.tooltip = fmt::format("{} and {} more", first_name_, merged_);
        return;
      }
    }
    merged_ = 0;
    first_name_ = short_kernel_name(name);
    row_.boxes.push_back({span, kind, std::move(label), first_name_});
  }

 private:
  TimelineRow& row_;
  Interval window_;
  Nanoseconds resolution_;
  std::string first_name_;
  int merged_ = 0;
};

/// The outermost annotations of the thread, and its calls that block.
void add_host_rows(const trace::Trace& trace, const analysis::Annotations& annotations, trace::LaneId thread,
                   Interval window, Nanoseconds resolution, std::vector<TimelineRow>& rows) {
  TimelineRow stages{.name = "host", .boxes = {}};
  TimelineRow blocked{.name = "host blocked", .boxes = {}};
  RowWriter stage_writer(stages, window, resolution);
  RowWriter blocked_writer(blocked, window, resolution);
  for (const OperationId op : trace.on_lane(thread)) {
    const Interval span{trace.start(op), trace.end(op)};
    if (analysis::blocks_host(trace, op)) {
      const auto label = annotations.stage_of(op);
      blocked_writer.add(span, BoxKind::kBlocked, label ? text_of(*label) : "", trace.name(op));
    }
    const auto* range = trace.range(op);
    if (range == nullptr || range->kind != trace::RangeKind::kAnnotation || annotations.innermost(op)) continue;
    stage_writer.add(span, BoxKind::kStage, text_of(analysis::stage_label(trace.name(op))), trace.name(op));
  }
  rows.push_back(std::move(stages));
  if (!blocked.boxes.empty()) rows.push_back(std::move(blocked));
}

}  // namespace

TimelinePicture timeline_picture(const trace::Trace& trace, const analysis::Annotations& annotations,
                                 trace::RankId rank, Interval window, std::string title, Nanoseconds resolution) {
  TimelinePicture picture{.title = std::move(title), .length = window.length(), .rows = {}};
  if (const auto main = annotations.main_thread(rank)) {
    add_host_rows(trace, annotations, *main, window, resolution, picture.rows);
  }
  const Tracks tracks = lay_out(trace);
  std::vector<TimelineRow> rows(tracks.tracks.size());
  std::vector<RowWriter> writers;
  writers.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].name = tracks.tracks[i].name;
    writers.emplace_back(rows[i], window, resolution);
  }
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const OperationId op{i};
    if (!trace::is_device_work(trace.kind(op)) || trace.rank_of(op) != rank) continue;
    const auto label = annotations.stage_of(op);
    writers[tracks.track_of[i]].add({trace.start(op), trace.end(op)}, box_kind(analysis::device_class(trace, op)),
                                    label ? text_of(*label) : "", trace.name(op));
  }
  for (TimelineRow& row : rows) {
    if (!row.boxes.empty()) picture.rows.push_back(std::move(row));
  }
  return picture;
}

TimelinePicture picture_of_step(const trace::Trace& trace, const analysis::StepWindow& window, std::string title) {
  const Nanoseconds step = window.span.length() / window.steps;
  const Nanoseconds begin = window.span.begin + (window.steps - 1) / 2 * step;
  const Nanoseconds resolution = step / kPlotPixels / 2;
  const analysis::Annotations annotations(trace);
  return timeline_picture(trace, annotations, {0}, {begin, begin + step}, std::move(title), resolution);
}

}  // namespace interlace::report
