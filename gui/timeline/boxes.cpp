#include "gui/timeline/boxes.hpp"

#include <algorithm>
#include <cmath>

namespace interlace::gui {

namespace {

using trace::OperationId;

/// Walks down the pyramid wherever a node is wider than a pixel, and joins what is narrower.
class Folder {
 public:
  Folder(const trace::Trace& trace, const Row& row, const Pyramid& pyramid, const Viewport& view,
         std::span<const ColourClass> colour_of, std::vector<Box>& boxes)
      : trace_(trace), row_(row), pyramid_(pyramid), view_(view), colour_of_(colour_of), boxes_(boxes) {}

  void run() {
    if (row_.operations.empty()) return;
    if (pyramid_.levels() == 0) {
      visit_operation(0);
    } else {
      visit_node(pyramid_.levels() - 1, 0);
    }
    flush();
  }

 private:
  [[nodiscard]] bool outside(double begin, double end) const { return end < view_.begin_ns || begin > view_.end_ns(); }

  void visit_node(std::size_t level, std::size_t index) {
    const Pyramid::Node& node = pyramid_.level(level)[index];
    const auto begin = static_cast<double>(node.begin);
    const auto end = static_cast<double>(node.end);
    if (outside(begin, end)) return;
    if (end - begin < view_.ns_per_px) {
      fold(begin, end, row_.operations[node.longest], node.busy_ns);
      return;
    }
    const std::size_t first = index * Pyramid::kFanOut;
    const std::size_t below = level == 0 ? row_.operations.size() : pyramid_.level(level - 1).size();
    const std::size_t last = std::min(first + Pyramid::kFanOut, below);
    for (std::size_t i = first; i < last; ++i) {
      if (level == 0) {
        visit_operation(i);
      } else {
        visit_node(level - 1, i);
      }
    }
  }

  void visit_operation(std::size_t position) {
    const OperationId op = row_.operations[position];
    const auto begin = static_cast<double>(trace_.start(op));
    const auto end = static_cast<double>(trace_.end(op));
    if (outside(begin, end)) return;
    if (end - begin < view_.ns_per_px) {
      fold(begin, end, op, end - begin);
      return;
    }
    flush();
    boxes_.push_back({view_.x_of(begin), view_.x_of(end), op, colour_of_[op.index()], false, 1});
  }

  /// Adds something narrower than a pixel to the pixel in which most of it lies.
  void fold(double begin, double end, OperationId op, double busy_ns) {
    const double pixel = std::floor(view_.x_of((begin + end) / 2));
    if (pixel != pixel_ || !pending_) {
      close_pixel();
      pixel_ = pixel;
      pending_ = true;
      longest_ = op;
      longest_ns_ = trace_.duration(op);
      busy_ns_ = 0;
    } else if (trace_.duration(op) > longest_ns_) {
      longest_ = op;
      longest_ns_ = trace_.duration(op);
    }
    busy_ns_ += busy_ns;
  }

  /// The pixel is full: it lengthens the run before it where they look alike.
  void close_pixel() {
    if (!pending_) return;
    pending_ = false;
    constexpr double kShades = 4;  // coverage in quarters, so that neighbours can be one box
    const double part = std::clamp(busy_ns_ / view_.ns_per_px, 0.0, 1.0);
    const auto coverage = static_cast<float>(std::max(1.0, std::ceil(part * kShades)) / kShades);
    const ColourClass colour = colour_of_[longest_.index()];
    if (in_run_) {
      Box& run = boxes_.back();
      if (run.right == pixel_ && run.colour == colour && run.coverage == coverage) {
        run.right = pixel_ + 1;
        if (longest_ns_ > trace_.duration(run.operation)) run.operation = longest_;
        return;
      }
    }
    boxes_.push_back({pixel_, pixel_ + 1, longest_, colour, true, coverage});
    in_run_ = true;
  }

  void flush() {
    close_pixel();
    in_run_ = false;
  }

  const trace::Trace& trace_;
  const Row& row_;
  const Pyramid& pyramid_;
  const Viewport& view_;
  std::span<const ColourClass> colour_of_;
  std::vector<Box>& boxes_;

  bool pending_ = false;  ///< pixel_ has something in it
  bool in_run_ = false;   ///< boxes_.back() is a folded box that may grow
  double pixel_ = 0;
  OperationId longest_;
  Nanoseconds longest_ns_ = 0;
  double busy_ns_ = 0;
};

}  // namespace

void append_boxes(const trace::Trace& trace, const Row& row, const Pyramid& pyramid, const Viewport& view,
                  std::span<const ColourClass> colour_of, std::vector<Box>& boxes) {
  Folder(trace, row, pyramid, view, colour_of, boxes).run();
}

}  // namespace interlace::gui
